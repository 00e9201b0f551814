#include "link.h"

#include <stdlib.h>
#include <string.h>

void link_init(struct link *link, struct sim *sim, uint64_t *rng, link_receiver *receiver, void *receiver_ctx)
{
    *link =
        (struct link){.sim = sim, .rng = rng_fork(rng), .receiver = receiver, .receiver_ctx = receiver_ctx};
}

static void list_frame(struct link *link, struct frame *f)
{
    f->previous = NULL;
    f->next = link->in_flight;
    if (f->next != NULL)
        f->next->previous = f;
    link->in_flight = f;
}

static void unlist_frame(struct link *link, struct frame *f)
{
    if (f->next != NULL)
        f->next->previous = f->previous;
    if (f->previous != NULL)
        f->previous->next = f->next;
    else
        link->in_flight = f->next;
}

void link_fini(struct link *link)
{
    while (link->in_flight != NULL) {
        struct frame *f = link->in_flight;
        unlist_frame(link, f);
        frame_free(f);
    }
}

struct frame *frame_around(unsigned host, uint16_t switch_port, uint16_t host_port, struct buffer *buffer,
                           bool unsummed)
{
    struct frame *f = malloc(sizeof(*f));

    if (f == NULL)
        sim_die("out of memory");
    *f = (struct frame){.host = host,
                        .switch_port = switch_port,
                        .host_port = host_port,
                        .unsummed = unsummed,
                        .bytes = (uint16_t)buffer->bytes,
                        .payload = buffer->at,
                        .buffer = buffer};
    return f;
}

struct frame *frame_new(unsigned host, uint16_t switch_port, uint16_t host_port, const uint8_t *payload,
                        size_t bytes, bool unsummed)
{
    return frame_around(host, switch_port, host_port, buffer_new(payload, bytes), unsummed);
}

struct frame *frame_copy(const struct frame *frame)
{
    struct frame *copy = frame_new(frame->host, frame->switch_port, frame->host_port, frame->payload,
                                   frame->bytes, frame->unsummed);

    copy->filler = frame->filler;
    copy->marked = frame->marked;
    copy->forged = frame->forged;
    copy->untrue = frame->untrue;
    return copy;
}

void frame_free(struct frame *frame)
{
    buffer_drop(frame->buffer);
    free(frame);
}

void frame_line_put(struct frame_line *line, struct frame *frame)
{
    frame->next = NULL;
    if (line->n++ == 0)
        line->first = frame;
    else
        line->last->next = frame;
    line->last = frame;
}

struct frame *frame_line_take(struct frame_line *line)
{
    struct frame *f = line->n > 0 ? line->first : NULL;

    if (f != NULL) {
        line->first = f->next;
        line->n--;
    }
    return f;
}

void frame_line_drop(struct frame_line *line)
{
    for (struct frame *f; (f = frame_line_take(line)) != NULL;)
        frame_free(f);
}

static void arrive(void *ctx, uint64_t argument)
{
    struct link *link = ctx;
    struct frame *f = (struct frame *)(uintptr_t)argument;

    unlist_frame(link, f);
    link->receiver(link->receiver_ctx, f);
}

/* The chain of Gilbert and Elliott with a good state that loses nothing and a bad one that loses all. */
static bool is_lost(struct link *link)
{
    const struct link_quality *q = &link->quality;
    uint32_t burst = q->loss_burst > 1 ? q->loss_burst : 1;

    if (q->loss_ppm == 0) {
        link->in_burst = false;
        return false;
    }
    if (link->in_burst)
        link->in_burst = !rng_chance(&link->rng, PPM / burst);
    else
        link->in_burst = rng_chance(&link->rng, q->loss_ppm / burst);
    bool lost = link->in_burst;
    if (burst == 1)
        link->in_burst = false;
    return lost;
}

/* The payload in a buffer of its own: where others hold the same bytes, they keep theirs. */
static uint8_t *own_payload(struct frame *f)
{
    struct buffer *own = buffer_new(f->payload, f->bytes);

    buffer_drop(f->buffer);
    f->buffer = own;
    f->payload = own->at;
    return own->at;
}

/* A bit of the payload or of the host's port. */
static void damage(struct link *link, struct frame *f)
{
    uint64_t byte = rng_below(&link->rng, f->bytes + sizeof(f->host_port));
    unsigned bit = (unsigned)rng_below(&link->rng, 8);

    if (byte < f->bytes)
        own_payload(f)[byte] ^= (uint8_t)(1u << bit);
    else
        f->host_port ^= (uint16_t)(1u << (8 * (byte - f->bytes) + bit));
    f->damaged = true;
    link->stats.corrupted++;
}

/* When the receiver takes what arrives then. A nap begins with an arrival. */
static uint64_t taken_at(struct link *link, uint64_t at)
{
    const struct link_quality *q = &link->quality;

    if (q->nap_every > 0 && at >= link->next_nap) {
        link->awake_at = at + rng_below(&link->rng, q->nap_most + 1);
        link->next_nap = link->awake_at + rng_below(&link->rng, 2 * q->nap_every + 1);
    }
    return at < link->awake_at ? link->awake_at : at;
}

static void travel(struct link *link, uint64_t leaves, struct frame *f)
{
    const struct link_quality *q = &link->quality;
    uint64_t at = leaves + q->delay + (q->jitter ? rng_below(&link->rng, q->jitter + 1) : 0);

    if (rng_chance(&link->rng, q->delay_ppm)) {
        at += rng_below(&link->rng, q->held_ns + 1);
        link->stats.held++;
    }
    if (f->bytes > 0 && rng_chance(&link->rng, q->corrupt_ppm))
        damage(link, f);
    list_frame(link, f);
    sim_at(link->sim, taken_at(link, at), arrive, link, (uintptr_t)f);
}

/* When the frame has left, or UINT64_MAX if the queue is full. A long queue marks it. */
static uint64_t pass_queue(struct link *link, struct frame *f, size_t wire_bytes)
{
    const struct link_quality *q = &link->quality;
    uint64_t now_ps = link->sim->now * 1000;

    if (q->bits_per_s == 0)
        return link->sim->now;
    if (link->free_at_ps < now_ps)
        link->free_at_ps = now_ps;
    uint64_t ps_per_byte = 8 * 1000 * S / q->bits_per_s, queued = (link->free_at_ps - now_ps) / ps_per_byte;
    if (q->queue_bytes != 0 && queued > q->queue_bytes)
        return UINT64_MAX;
    f->marked |= q->mark_bytes != 0 && queued > q->mark_bytes;
    link->free_at_ps += wire_bytes * ps_per_byte;
    return (link->free_at_ps + 999) / 1000;
}

/* What becomes of a frame before it travels: NULL, or the counter of its loss. */
static uint64_t *stopped(struct link *link, uint64_t leaves)
{
    if (leaves == UINT64_MAX)
        return &link->stats.overflowed;
    if (link->is_cut)
        return &link->stats.cut;
    return is_lost(link) ? &link->stats.lost : NULL;
}

void link_send(struct link *link, struct frame *f)
{
    size_t wire_bytes = f->bytes + (size_t)f->filler + FRAME_WIRE_OVERHEAD;
    uint64_t leaves = pass_queue(link, f, wire_bytes), *loss = stopped(link, leaves);

    link->stats.sent++;
    link->stats.bytes += wire_bytes;
    if (loss != NULL) {
        ++*loss;
        frame_free(f);
        return;
    }
    if (rng_chance(&link->rng, link->quality.duplicate_ppm)) {
        link->stats.duplicated++;
        travel(link, leaves, frame_copy(f));
    }
    travel(link, leaves, f);
}
