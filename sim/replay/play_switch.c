#include <errno.h>
#include <stdlib.h>

#include "adder.h"
#include "kernels_chosen.h"
#include "memory.h"
#include "replay/play.h"
#include "sender.h"

enum {
    JOB = 1,
    CARRIED = 64, /* bytes of a chunk that are played; all count on the wire */
    CARRIED_ELEMENTS = CARRIED / sizeof(int32_t),
    FILLER = PLAY_CHUNK_BYTES - CARRIED,
    CALLS = 64,             /* in progress at once, as libswagg has them */
    WARM_UP_CHUNKS = 20000, /* of a call before the step, by which windows find their size */
};

struct worker {
    struct play *play;
    struct link up, down;
    struct sml_stream *stream;
    struct sender sender;
    unsigned begun, ended; /* calls, the first of which is the warm-up */
};

struct call {
    size_t at, count; /* in elements that are played */
    double ended;     /* seconds, on the last worker */
};

struct play {
    const struct play_config *cfg;
    struct sim sim;
    struct adder adder;
    struct worker *workers;
    struct call *calls;
    unsigned ready;    /* calls whose gradients are there */
    int32_t *in, *out; /* all workers contribute the same and receive the same */
    size_t count;
};

static void begin_ready(struct worker *w)
{
    struct play *p = w->play;

    for (; w->begun < p->ready; w->begun++) {
        const struct call *c = &p->calls[w->begun];
        const struct xfer_call call = {
            .collective = XFER_ALLREDUCE, .type = AGG_I32, .op = AGG_SUM, .count = c->count};
        const int ret = sml_stream_begin(w->stream, &call, p->in + c->at, p->out + c->at, p->sim.now);
        if (ret == -EBUSY)
            break;
        if (ret != 0)
            sim_die("a call cannot begin");
    }
    sender_turn(&w->sender);
}

static void at_worker(void *ctx, struct frame *f)
{
    struct worker *w = ctx;

    sml_stream_receive(w->stream, f->payload, f->bytes, w->play->sim.now);
    frame_free(f);
    while (w->ended < sml_stream_ended(w->stream))
        w->play->calls[w->ended++].ended = (double)w->play->sim.now / S;
    begin_ready(w);
}

static void on_ready(void *ctx, uint64_t call)
{
    struct play *p = ctx;

    p->ready = (unsigned)call + 1;
    for (unsigned r = 0; r < p->cfg->workers; r++)
        begin_ready(&p->workers[r]);
}

static void run_until_ended(struct play *p, unsigned calls)
{
    for (unsigned r = 0; r < p->cfg->workers;)
        if (p->workers[r].ended >= calls)
            r++;
        else if (!sim_step(&p->sim))
            sim_die("nothing is left to happen, and a sum is not there");
}

/* --- before and after --- */

static void lay_out(struct play *p)
{
    const struct schedule *s = p->cfg->schedule;

    p->calls = memory_of((s->buckets + 1) * sizeof(*p->calls));
    for (unsigned i = 0; i <= s->buckets; i++) {
        const uint64_t bytes =
            i == 0 ? (uint64_t)WARM_UP_CHUNKS * PLAY_CHUNK_BYTES : s->bucket[i - 1].elements * sizeof(float);
        p->calls[i].at = p->count;
        p->calls[i].count = (bytes + PLAY_CHUNK_BYTES - 1) / PLAY_CHUNK_BYTES * CARRIED_ELEMENTS;
        p->count += p->calls[i].count;
    }
    p->in = memory_of(p->count * sizeof(int32_t));
    p->out = memory_of(p->count * sizeof(int32_t));
    for (size_t i = 0; i < p->count; i++)
        p->in[i] = (int32_t)(i * 2654435761u >> 8);
}

static void open_worker(struct play *p, unsigned rank, uint64_t *rng)
{
    const struct play_config *cfg = p->cfg;
    struct worker *w = &p->workers[rank];
    const struct sml_stream_config sc = {.rank = (uint16_t)rank,
                                         .workers = (uint16_t)cfg->workers,
                                         .slots = cfg->slots,
                                         .format = XFER_FORMAT_TYPED,
                                         .chunk_bytes = CARRIED,
                                         .job = JOB,
                                         .calls = CALLS,
                                         .kernels = kernels_or_exit()};

    w->play = p;
    link_init(&w->up, &p->sim, rng, adder_receive, &p->adder);
    link_init(&w->down, &p->sim, rng, at_worker, w);
    w->up.quality = w->down.quality =
        (struct link_quality){.bits_per_s = cfg->bits_per_s, .delay = cfg->delay_ns};
    p->adder.down[rank] = &w->down;
    w->stream = sml_stream_init(memory_of(sml_stream_footprint(&sc)), &sc);
    sender_init(&w->sender, w->stream, &w->up, rank);
    w->sender.filler = FILLER;
}

static void open_play(struct play *p)
{
    const struct sml_pool_config pool = {.workers = (uint16_t)p->cfg->workers,
                                         .slots = p->cfg->slots,
                                         .chunk_bytes = CARRIED,
                                         .job = JOB,
                                         .format = XFER_FORMAT_TYPED,
                                         .mode = XFER_ON_ARRIVAL,
                                         .kernels = kernels_or_exit()};
    uint64_t rng = 1;

    sim_init(&p->sim, NULL);
    adder_open(&p->adder, &pool, FILLER);
    lay_out(p);
    p->workers = memory_of(p->cfg->workers * sizeof(*p->workers));
    for (unsigned r = 0; r < p->cfg->workers; r++)
        open_worker(p, r, &rng);
}

static void close_play(struct play *p)
{
    for (size_t i = 0; i < p->count; i++)
        if (p->out[i] != (int32_t)((uint32_t)p->in[i] * p->cfg->workers))
            sim_die("a sum is wrong");
    for (unsigned r = 0; r < p->cfg->workers; r++) {
        link_fini(&p->workers[r].up);
        link_fini(&p->workers[r].down);
        free(p->workers[r].stream);
    }
    sim_fini(&p->sim);
    adder_close(&p->adder);
    free(p->workers);
    free(p->calls);
    free(p->in);
    free(p->out);
}

struct played play_switch(const struct play_config *cfg)
{
    const struct schedule *s = cfg->schedule;
    struct play p = {.cfg = cfg};
    struct played played = {.step_s = s->compute_s};

    open_play(&p);
    on_ready(&p, 0);
    run_until_ended(&p, 1);
    const uint64_t start = p.sim.now;
    for (unsigned i = 0; i < s->buckets; i++)
        sim_at(&p.sim, start + (uint64_t)(s->bucket[i].ready_s * S), on_ready, &p, i + 1);
    run_until_ended(&p, s->buckets + 1);
    for (unsigned i = 0; i < s->buckets; i++) {
        const double ended = p.calls[i + 1].ended - (double)start / S;
        schedule_count(&played.shares, s->bucket[i].ready_s, ended, s->compute_s);
        if (ended > played.step_s)
            played.step_s = ended;
    }
    close_play(&p);
    return played;
}
