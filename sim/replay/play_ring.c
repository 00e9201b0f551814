#include <stdlib.h>
#include <string.h>

#include "link.h"
#include "memory.h"
#include "replay/play.h"
#include "sim.h"

enum { TCP_BEYOND_UDP = 12 }; /* bytes of a header without options */

/* What a frame carries of. */
struct mark {
    uint32_t bucket, step;
};

/* All workers do the same at the same time, each for its neighbour. So one of them tells of all: what it
 * sends is what it receives. */
struct ring {
    const struct play_config *cfg;
    struct sim sim;
    struct link up, down;
    uint64_t *left; /* [buckets] frames that are still to come */
    double *ended;  /* [buckets] */
};

static unsigned steps_of(const struct ring *r)
{
    return 2 * (r->cfg->workers - 1);
}

static void send_part(struct ring *r, struct mark mark, size_t bytes)
{
    struct frame *f = frame_new(0, 0, 0, (const uint8_t *)&mark, sizeof(mark), false);
    const size_t carried = bytes + TCP_BEYOND_UDP;

    f->filler = carried > sizeof(mark) ? (uint16_t)(carried - sizeof(mark)) : 0;
    link_send(&r->up, f);
}

static void at_switch(void *ctx, struct frame *f)
{
    struct ring *r = ctx;

    link_send(&r->down, f);
}

static void at_host(void *ctx, struct frame *f)
{
    struct ring *r = ctx;
    struct mark mark;

    memcpy(&mark, f->payload, sizeof(mark));
    if (--r->left[mark.bucket] == 0)
        r->ended[mark.bucket] = (double)r->sim.now / S;
    if (++mark.step < steps_of(r))
        send_part(r, mark, f->bytes + (size_t)f->filler - TCP_BEYOND_UDP);
    frame_free(f);
}

/* A worker's part of the bucket sets out for the next one. */
static void on_ready(void *ctx, uint64_t bucket)
{
    struct ring *r = ctx;
    const uint64_t elements = r->cfg->schedule->bucket[bucket].elements;
    uint64_t left = (elements * sizeof(float) + r->cfg->workers - 1) / r->cfg->workers;

    r->left[bucket] = (left + PLAY_CHUNK_BYTES - 1) / PLAY_CHUNK_BYTES * steps_of(r);
    for (size_t bytes; left > 0; left -= bytes) {
        bytes = left < PLAY_CHUNK_BYTES ? left : PLAY_CHUNK_BYTES;
        send_part(r, (struct mark){.bucket = (uint32_t)bucket}, bytes);
    }
}

struct played play_ring(const struct play_config *cfg)
{
    const struct schedule *s = cfg->schedule;
    struct ring r = {.cfg = cfg};
    struct played played = {.step_s = s->compute_s};
    uint64_t rng = 1;

    sim_init(&r.sim, NULL);
    link_init(&r.up, &r.sim, &rng, at_switch, &r);
    link_init(&r.down, &r.sim, &rng, at_host, &r);
    r.up.quality = r.down.quality =
        (struct link_quality){.bits_per_s = cfg->bits_per_s, .delay = cfg->delay_ns};
    r.left = memory_of(s->buckets * sizeof(*r.left));
    r.ended = memory_of(s->buckets * sizeof(*r.ended));
    for (unsigned i = 0; i < s->buckets; i++)
        sim_at(&r.sim, (uint64_t)(s->bucket[i].ready_s * S), on_ready, &r, i);
    while (sim_step(&r.sim))
        ;
    for (unsigned i = 0; i < s->buckets; i++) {
        schedule_count(&played.shares, s->bucket[i].ready_s, r.ended[i], s->compute_s);
        if (r.ended[i] > played.step_s)
            played.step_s = r.ended[i];
    }
    link_fini(&r.up);
    link_fini(&r.down);
    sim_fini(&r.sim);
    free(r.left);
    free(r.ended);
    return played;
}
