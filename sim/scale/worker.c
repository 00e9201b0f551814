/* A worker: the real stream. What it computes takes no time. */
#include <stdlib.h>
#include <string.h>

#include "kernels_chosen.h"
#include "memory.h"
#include "scale/tree.h"
#include "transfer/chunks.h"

enum { PAYLOAD_MAX = SML_HEADER_BYTES + SCALE_CARRIED_BYTES };

static void turn(struct scale_worker *w);

static void on_timer(void *ctx, uint64_t at)
{
    struct scale_worker *w = ctx;

    if (at == w->timer_at)
        w->timer_at = UINT64_MAX;
    turn(w);
}

static void turn(struct scale_worker *w)
{
    struct sim *sim = &w->node.run->sim;
    struct xfer_send send;
    uint8_t payload[PAYLOAD_MAX];

    while (sml_stream_poll(w->stream, sim->now, &send))
        scale_send_up(&w->node, payload, xfer_send_copy(&send, payload));
    const uint64_t timer = sml_stream_timer(w->stream);
    if (timer < w->timer_at) {
        w->timer_at = timer;
        sim_at(sim, timer, on_timer, w, timer);
    }
}

/* Memory that nothing is written to yet, so that what is never used is never there: most of a stream is for
 * chunks that are kept when a collective ends. */
static void *untouched(size_t bytes)
{
    void *memory = bytes > 0 ? aligned_alloc(64, (bytes + 63) / 64 * 64) : NULL;

    if (memory == NULL)
        sim_die("a stream's settings are out of range, or there is no memory");
    return memory;
}

void scale_worker_open(struct scale_worker *w)
{
    const struct scale_config *cfg = &w->node.run->cfg;
    const struct sml_stream_config stream = {.rank = (uint16_t)w->rank,
                                             .workers = (uint16_t)w->node.run->ranks,
                                             .slots = cfg->slots,
                                             .format = XFER_FORMAT_TYPED,
                                             .chunk_bytes = SCALE_CARRIED_BYTES,
                                             .job = (uint8_t)scale_job_number(cfg->tree.levels - 1),
                                             .kernels = kernels_or_exit()};

    w->stream = sml_stream_init(untouched(sml_stream_footprint(&stream)), &stream);
    w->timer_at = UINT64_MAX;
}

void scale_worker_start(void *worker, uint64_t argument)
{
    struct scale_worker *w = worker;
    struct scale_run *run = w->node.run;
    const struct xfer_call call = {
        .collective = XFER_ALLREDUCE, .type = AGG_I32, .op = AGG_SUM, .count = run->elements};

    (void)argument;
    if (sml_stream_begin(w->stream, &call, run->numbers + w->rank, run->got, run->sim.now) != 0)
        sim_die("the collective cannot begin");
    turn(w);
}

/* Where this packet's elements go, and how many bytes they are; NULL: it has none. */
static int32_t *place_of(const struct scale_run *run, const struct parcel *parcel, size_t *bytes)
{
    struct sml_packet p;
    uint64_t offset;

    if (sml_parse(&p, parcel->payload, parcel->bytes) != SML_OK ||
        (p.kind != SML_DATA && p.kind != SML_OPEN) || p.body_bytes == 0 || p.tag >= run->cfg.chunks)
        return NULL;
    xfer_chunk_span(SCALE_CARRIED_BYTES, sizeof(int32_t), run->elements * sizeof(int32_t), p.tag, &offset,
                    bytes);
    return run->got + offset / sizeof(int32_t);
}

/* All workers' results go to the same memory, which is spoilt before: what is right afterwards, this one has
 * written. */
void scale_worker_receive(struct scale_worker *w, struct parcel *parcel)
{
    struct scale_run *run = w->node.run;
    uint8_t before[SCALE_CARRIED_BYTES];
    size_t bytes = 0;
    int32_t *place = place_of(run, parcel, &bytes);

    if (place != NULL) {
        memcpy(before, place, bytes);
        memset(place, 0xdd, bytes);
    }
    const enum xfer_receive worth =
        sml_stream_receive(w->stream, parcel->payload, parcel->bytes, run->sim.now);
    if (worth == XFER_RX_RESULT) {
        run->results++;
        run->wrong |= place == NULL || memcmp(place, run->expected + (place - run->got), bytes) != 0;
    } else if (place != NULL) {
        memcpy(place, before, bytes);
    }
    run->wrong |= worth == XFER_RX_BAD || worth == XFER_RX_DAMAGED;
    free(parcel);
    turn(w);
}
