#include "hostagg/worker.h"

#include <string.h>

#include "protocol/ranks.h"
#include "wire/bytes.h"

enum { DOUBLINGS_MAX = 6 };

void hag_worker_init(struct hag_worker *w, const struct hag_worker_config *cfg, struct hag_flight *flight)
{
    *w = (struct hag_worker){.cfg = *cfg, .flight = flight};
}

void hag_worker_post(struct hag_worker *w, const void *from, void *to, size_t bytes)
{
    w->from = from;
    w->to = to;
    w->bytes = bytes;
    w->first = w->next = w->oldest = w->end;
    w->end += (uint32_t)((bytes + w->cfg.chunk_bytes - 1) / w->cfg.chunk_bytes);
}

static struct hag_flight *flight_of(const struct hag_worker *w, uint32_t sequence)
{
    return &w->flight[sequence & (w->cfg.slots - 1u)];
}

static size_t offset_of(const struct hag_worker *w, uint32_t sequence)
{
    return (size_t)(sequence - w->first) * w->cfg.chunk_bytes;
}

static size_t bytes_of(const struct hag_worker *w, uint32_t sequence)
{
    const size_t rest = w->bytes - offset_of(w, sequence);

    return rest < w->cfg.chunk_bytes ? rest : w->cfg.chunk_bytes;
}

static size_t build(const struct hag_worker *w, enum hag_kind kind, uint32_t sequence, uint8_t *packet)
{
    const struct hag_packet p = {
        .kind = kind, .job = w->cfg.job, .worker = w->cfg.worker, .sequence = sequence, .run = w->cfg.run};
    const size_t bytes = kind == HAG_GRADIENT ? bytes_of(w, sequence) : 0;

    hag_build_header(packet, &p);
    if (bytes > 0)
        w->cfg.kernels->convert[agg_code_type(w->cfg.code)](packet + HAG_HEADER_BYTES,
                                                            w->from + offset_of(w, sequence), bytes);
    return HAG_HEADER_BYTES + bytes;
}

static size_t contribute(struct hag_worker *w, uint32_t sequence, uint64_t now, uint8_t *packet)
{
    struct hag_flight *f = flight_of(w, sequence);

    f->order = ++w->sent;
    f->resend = false;
    f->due = now + (w->cfg.ask_after_ns << f->asked);
    return build(w, HAG_GRADIENT, sequence, packet);
}

static size_t ask(struct hag_worker *w, uint32_t sequence, uint64_t now, uint8_t *packet)
{
    struct hag_flight *f = flight_of(w, sequence);

    w->asked++;
    f->asked += f->asked < DOUBLINGS_MAX;
    f->due = now + (w->cfg.ask_after_ns << f->asked);
    return build(w, HAG_ASK, sequence, packet);
}

/* How many chunks may be under way, from the oldest on. */
static uint32_t horizon(const struct hag_worker *w)
{
    return w->end - w->oldest < w->cfg.slots ? w->end : w->oldest + w->cfg.slots;
}

size_t hag_worker_send(struct hag_worker *w, uint64_t now, uint8_t *packet)
{
    for (uint32_t c = w->oldest; c != w->next; c++) {
        const struct hag_flight *f = flight_of(w, c);
        if (f->done || f->due > now)
            continue;
        w->resent += f->resend;
        return f->resend ? contribute(w, c, now, packet) : ask(w, c, now, packet);
    }
    if (w->next == horizon(w))
        return 0;
    *flight_of(w, w->next) = (struct hag_flight){0};
    return contribute(w, w->next++, now, packet);
}

uint64_t hag_worker_wake(const struct hag_worker *w)
{
    uint64_t wake = UINT64_MAX;

    if (w->next != horizon(w))
        return 0;
    for (uint32_t c = w->oldest; c != w->next; c++)
        if (!flight_of(w, c)->done && flight_of(w, c)->due < wake)
            wake = flight_of(w, c)->due;
    return wake;
}

static void take_sum(struct hag_worker *w, const struct hag_packet *p, uint64_t now)
{
    struct hag_flight *f = flight_of(w, p->sequence);

    if (p->body_bytes != bytes_of(w, p->sequence))
        return;
    w->cfg.kernels->convert[agg_code_type(w->cfg.code)](w->to + offset_of(w, p->sequence), p->body,
                                                        p->body_bytes);
    f->done = true;
    /* What was sent before this chunk ought to be here, too. */
    for (uint32_t c = w->oldest; c != w->next; c++)
        if (!flight_of(w, c)->done && flight_of(w, c)->asked == 0 && flight_of(w, c)->order < f->order)
            flight_of(w, c)->due = now;
    while (w->oldest != w->next && flight_of(w, w->oldest)->done)
        w->oldest++;
}

static void take_answer(struct hag_worker *w, const struct hag_packet *p, uint64_t now)
{
    struct hag_flight *f = flight_of(w, p->sequence);

    if (p->body_bytes <= w->cfg.worker / 8u || p->body_bytes > sizeof w->there)
        return;
    if (p->sequence == w->oldest) {
        w->answered = p->sequence;
        w->there_bytes = p->body_bytes;
        memcpy(w->there, p->body, p->body_bytes);
    }
    if (ranks_map_has(p->body, w->cfg.worker))
        return;
    f->resend = true;
    f->due = now;
}

void hag_worker_receive(struct hag_worker *w, const uint8_t *packet, size_t bytes, uint64_t now)
{
    struct hag_packet p;

    if (!hag_parse(&p, packet, bytes) || p.job != w->cfg.job || p.run != w->cfg.run ||
        p.sequence - w->oldest >= w->next - w->oldest || flight_of(w, p.sequence)->done)
        return;
    if (p.kind == HAG_SUM) {
        take_sum(w, &p, now);
    } else if (p.kind == HAG_WAITING) {
        take_answer(w, &p, now);
    } else if (p.kind == HAG_DIFFERS && p.body_bytes == HAG_DIFFERS_BYTES) {
        w->differs = true;
        w->differing = p.sequence;
        w->differs_from = get_be16(p.body);
    }
}

bool hag_worker_misses(const struct hag_worker *w, uint16_t worker)
{
    return !hag_worker_is_done(w) && w->answered == w->oldest && worker / 8u < w->there_bytes &&
           !ranks_map_has(w->there, worker);
}
