#include "paper_worker.h"

#include <stdlib.h>
#include <string.h>

#include "kernels_chosen.h"
#include "memory.h"

static size_t chunk_length(const struct paper_worker *w, uint64_t chunk)
{
    uint64_t offset = chunk * w->cfg.chunk_bytes, all = w->cfg.count * sizeof(int32_t);

    return all - offset < w->cfg.chunk_bytes ? (size_t)(all - offset) : w->cfg.chunk_bytes;
}

static void on_timer(void *ctx, uint64_t argument);

static void send_chunk(struct paper_worker *w, uint16_t slot)
{
    struct paper_slot *s = &w->slots[slot];
    uint8_t payload[SML_HEADER_BYTES + SML_MAX_CHUNK_BYTES];
    size_t bytes = chunk_length(w, s->chunk);
    struct sml_packet p = {
        .kind = SML_DATA,
        .size_code = SML_SIZE_AGREED,
        .job = w->cfg.job,
        .slot = slot,
        .ver = sml_tag_ver((uint32_t)s->chunk, w->cfg.slots),
        .tag = (uint32_t)s->chunk,
    };

    sml_build_header(payload, &p);
    kernels_or_exit()->convert[AGG_I32](payload + SML_HEADER_BYTES,
                                        (const uint8_t *)w->cfg.in + s->chunk * w->cfg.chunk_bytes, bytes);
    s->sent_at = w->sim->now;
    w->cfg.send(w->cfg.send_ctx, payload, SML_HEADER_BYTES + bytes);
    sim_at(w->sim, s->sent_at + w->cfg.timeout_ns, on_timer, w, slot);
}

/* Only the timer of the slot's last packet counts. */
static void on_timer(void *ctx, uint64_t argument)
{
    struct paper_worker *w = ctx;
    const struct paper_slot *s = &w->slots[argument];

    if (s->chunk >= w->chunks || w->sim->now != s->sent_at + w->cfg.timeout_ns)
        return;
    w->retransmitted++;
    send_chunk(w, (uint16_t)argument);
}

void paper_worker_start(struct paper_worker *w, struct sim *sim, const struct paper_worker_config *cfg)
{
    uint64_t bytes = cfg->count * sizeof(int32_t);

    *w = (struct paper_worker){
        .cfg = *cfg, .sim = sim, .chunks = (bytes + cfg->chunk_bytes - 1) / cfg->chunk_bytes};
    w->slots = memory_of(cfg->slots * sizeof(*w->slots));
    for (uint16_t i = 0; i < cfg->slots; i++) {
        w->slots[i].chunk = i;
        if (i < w->chunks)
            send_chunk(w, i);
    }
}

void paper_worker_fini(struct paper_worker *w)
{
    free(w->slots);
}

void paper_worker_receive(struct paper_worker *w, const uint8_t *payload, size_t bytes)
{
    struct sml_packet p;

    if (sml_parse(&p, payload, bytes) != SML_OK || p.kind != SML_DATA || p.slot >= w->cfg.slots)
        return;
    struct paper_slot *s = &w->slots[p.slot];
    if (s->chunk >= w->chunks || p.tag != (uint32_t)s->chunk || p.body_bytes != chunk_length(w, s->chunk))
        return;
    kernels_or_exit()->convert[AGG_I32]((uint8_t *)w->cfg.out + s->chunk * w->cfg.chunk_bytes, p.body,
                                        p.body_bytes);
    w->done++;
    s->chunk += w->cfg.slots;
    if (s->chunk < w->chunks)
        send_chunk(w, p.slot);
}

bool paper_worker_done(const struct paper_worker *w)
{
    return w->done == w->chunks;
}
