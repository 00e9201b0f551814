#include "tat.h"

#include <stdlib.h>
#include <string.h>

#include "adder.h"
#include "kernels_chosen.h"
#include "memory.h"
#include "paper_worker.h"
#include "sender.h"

enum { JOB = 1 };

struct tat_worker {
    struct tat_run *run;
    unsigned rank;
    struct link up, down;
    struct sml_stream *stream; /* ours */
    struct paper_worker paper;
    struct sender sender; /* ours */
};

/* A thread that looks at its packets now and then; what comes meanwhile waits. */
struct tat_shard {
    struct link wait;
    uint64_t round_ends;
};

struct tat_run {
    struct tat_config cfg;
    struct sim sim;
    struct adder adder;
    struct tat_worker *workers;
    struct tat_shard shard[TAT_SHARDS_MAX];
    uint64_t rounds;   /* random numbers: when they end */
    int32_t *in, *out; /* all workers contribute the same and receive the same */
    uint64_t count;
};

/* The switch */

static void at_switch(void *ctx, struct frame *f)
{
    struct tat_run *run = ctx;
    struct sml_packet p;
    unsigned i = sml_parse(&p, f->payload, f->bytes) == SML_OK ? p.slot % run->cfg.shards : 0;
    struct tat_shard *shard = &run->shard[i];

    if (shard->round_ends <= run->sim.now)
        shard->round_ends = run->sim.now + rng_below(&run->rounds, run->cfg.round_ns + 1);
    shard->wait.quality.delay = shard->round_ends - run->sim.now;
    link_send(&shard->wait, f);
}

static void open_adder(struct tat_run *run)
{
    const struct sml_pool_config cfg = {
        .workers = (uint16_t)run->cfg.workers,
        .slots = run->cfg.slots,
        .chunk_bytes = run->cfg.chunk_bytes,
        .job = JOB,
        .format = run->cfg.kind == TAT_PAPER ? XFER_FORMAT_INT32 : XFER_FORMAT_TYPED,
        .mode = XFER_ON_ARRIVAL,
        .kernels = kernels_or_exit(),
    };

    adder_open(&run->adder, &cfg, 0);
}

/* Our worker */

static void send_up(void *ctx, const uint8_t *payload, size_t bytes)
{
    struct tat_worker *w = ctx;

    link_send(&w->up, frame_new(w->rank, SML_PORT_FIRST, 0, payload, bytes, false));
}

static void start_stream(struct tat_worker *w)
{
    const struct tat_config *cfg = &w->run->cfg;
    struct sml_stream_config sc = {
        .rank = (uint16_t)w->rank,
        .workers = (uint16_t)cfg->workers,
        .slots = cfg->slots,
        .format = XFER_FORMAT_TYPED,
        .chunk_bytes = cfg->chunk_bytes,
        .job = JOB,
        .kernels = kernels_or_exit(),
    };
    struct xfer_call call = {
        .collective = XFER_ALLREDUCE, .type = AGG_I32, .op = AGG_SUM, .count = w->run->count};

    w->stream = sml_stream_init(memory_of(sml_stream_footprint(&sc)), &sc);
    if (sml_stream_begin(w->stream, &call, w->run->in, w->run->out, w->run->sim.now) != 0)
        sim_die("the collective cannot begin");
    sender_init(&w->sender, w->stream, &w->up, w->rank);
    sender_turn(&w->sender);
}

/* Either */

static void at_worker(void *ctx, struct frame *f)
{
    struct tat_worker *w = ctx;

    if (w->run->cfg.kind == TAT_PAPER) {
        paper_worker_receive(&w->paper, f->payload, f->bytes);
    } else {
        sml_stream_receive(w->stream, f->payload, f->bytes, w->run->sim.now);
        sender_turn(&w->sender);
    }
    frame_free(f);
}

static void start_worker(struct tat_worker *w)
{
    const struct tat_config *cfg = &w->run->cfg;

    if (cfg->kind == TAT_OURS) {
        start_stream(w);
        return;
    }
    struct paper_worker_config pc = {
        .slots = cfg->slots,
        .chunk_bytes = cfg->chunk_bytes,
        .job = JOB,
        .timeout_ns = cfg->paper_timeout_ns,
        .in = w->run->in,
        .out = w->run->out,
        .count = w->run->count,
        .send = send_up,
        .send_ctx = w,
    };
    paper_worker_start(&w->paper, &w->run->sim, &pc);
}

static bool all_done(const struct tat_run *run)
{
    for (unsigned r = 0; r < run->cfg.workers; r++) {
        const struct tat_worker *w = &run->workers[r];
        if (run->cfg.kind == TAT_PAPER ? !paper_worker_done(&w->paper)
                                       : sml_stream_status(w->stream) != XFER_DONE)
            return false;
    }
    return true;
}

static void count_packets(const struct tat_run *run, struct tat_result *result)
{
    for (unsigned r = 0; r < run->cfg.workers; r++) {
        const struct tat_worker *w = &run->workers[r];
        result->packets += w->up.stats.sent;
        result->retransmitted += w->paper.retransmitted;
        if (w->stream != NULL) {
            struct xfer_stats stats;
            sml_stream_stats(w->stream, &stats);
            result->retransmitted += stats.retransmitted;
            result->probes += stats.probes;
        }
    }
}

/* The time that the links need for the packets alone, one after the other. */
static double ideal_seconds(const struct tat_run *run)
{
    double chunks = (double)run->cfg.tensor_bytes / run->cfg.chunk_bytes;
    double bytes = (double)run->cfg.tensor_bytes + chunks * (SML_HEADER_BYTES + FRAME_WIRE_OVERHEAD);

    return bytes * 8 / (double)run->cfg.bits_per_s;
}

static void open_run(struct tat_run *run)
{
    uint64_t rng = run->cfg.seed;
    const struct link_quality quality = {.bits_per_s = run->cfg.bits_per_s,
                                         .delay = run->cfg.delay_ns,
                                         .queue_bytes = run->cfg.queue_bytes,
                                         .loss_ppm = run->cfg.loss_ppm};

    sim_init(&run->sim, NULL);
    open_adder(run);
    run->count = run->cfg.tensor_bytes / sizeof(int32_t);
    run->in = memory_of(run->count * sizeof(int32_t));
    run->out = memory_of(run->count * sizeof(int32_t));
    for (uint64_t i = 0; i < run->count; i++)
        run->in[i] = (int32_t)(i * 2654435761u >> 8);
    run->workers = memory_of(run->cfg.workers * sizeof(*run->workers));
    for (unsigned r = 0; r < run->cfg.workers; r++) {
        struct tat_worker *w = &run->workers[r];
        w->run = run;
        w->rank = r;
        link_init(&w->up, &run->sim, &rng, at_switch, run);
        link_init(&w->down, &run->sim, &rng, at_worker, w);
        w->up.quality = w->down.quality = quality;
        run->adder.down[r] = &w->down;
    }
    run->rounds = rng_fork(&rng);
    for (unsigned i = 0; i < run->cfg.shards; i++)
        link_init(&run->shard[i].wait, &run->sim, &rng, adder_receive, &run->adder);
}

static void close_run(struct tat_run *run)
{
    for (unsigned r = 0; r < run->cfg.workers; r++) {
        struct tat_worker *w = &run->workers[r];
        link_fini(&w->up);
        link_fini(&w->down);
        paper_worker_fini(&w->paper);
        free(w->stream);
    }
    for (unsigned i = 0; i < run->cfg.shards; i++)
        link_fini(&run->shard[i].wait);
    free(run->workers);
    adder_close(&run->adder);
    free(run->in);
    free(run->out);
    sim_fini(&run->sim);
}

struct tat_result tat_run(const struct tat_config *cfg)
{
    struct tat_run run = {.cfg = *cfg};
    struct tat_result result = {.exact = true};

    open_run(&run);
    for (unsigned r = 0; r < cfg->workers; r++)
        start_worker(&run.workers[r]);
    while (!all_done(&run))
        if (!sim_step(&run.sim))
            sim_die("nothing is left to happen, and the sum is not there");
    result.seconds = (double)run.sim.now / (double)S;
    result.wire_share = ideal_seconds(&run) / result.seconds;
    for (uint64_t i = 0; i < run.count; i++)
        result.exact &= run.out[i] == (int32_t)((uint32_t)run.in[i] * cfg->workers);
    count_packets(&run, &result);
    close_run(&run);
    return result;
}
