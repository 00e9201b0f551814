#include "tat.h"

#include <stdlib.h>
#include <string.h>

#include "adder.h"
#include "kernels_chosen.h"
#include "memory.h"
#include "paper_worker.h"
#include "sender.h"

enum { JOB = 1 };

struct tat_thread {
    struct sml_stream *stream;
    struct sender sender;
};

struct tat_worker {
    struct tat_run *run;
    unsigned rank;
    struct link up, down;
    struct tat_thread thread[TAT_THREADS_MAX]; /* ours */
    unsigned begun;                            /* calls */
    struct paper_worker paper;
};

/* A thread that looks at its packets now and then; what comes meanwhile waits. */
struct tat_shard {
    struct link wait;
    uint64_t round_ends;
};

struct tat_run {
    struct tat_config cfg;
    struct sim sim;
    struct adder adder[TAT_THREADS_MAX];
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

/* Of the packet's thread, which its job tells; what is no packet of a job is for the first to drop. */
static unsigned thread_of(const struct tat_run *run, const struct frame *f)
{
    struct sml_packet p;
    const bool known =
        sml_parse(&p, f->payload, f->bytes) == SML_OK && p.job >= JOB && p.job < JOB + run->cfg.threads;

    return known ? (unsigned)(p.job - JOB) : 0;
}

static void at_pool(void *ctx, struct frame *f)
{
    struct tat_run *run = ctx;

    adder_receive(&run->adder[thread_of(run, f)], f);
}

/* A power of two. */
static uint16_t slots_each(const struct tat_config *cfg)
{
    uint16_t each = cfg->slots;

    while (each * cfg->threads > cfg->slots && each > 2)
        each /= 2;
    return each;
}

static void open_adder(struct tat_run *run, unsigned thread)
{
    const struct sml_pool_config cfg = {
        .workers = (uint16_t)run->cfg.workers,
        .slots = slots_each(&run->cfg),
        .chunk_bytes = run->cfg.chunk_bytes,
        .job = (uint8_t)(JOB + thread),
        .format = run->cfg.kind == TAT_PAPER ? XFER_FORMAT_INT32 : XFER_FORMAT_TYPED,
        .mode = XFER_ON_ARRIVAL,
        .kernels = kernels_or_exit(),
    };

    adder_open(&run->adder[thread], &cfg, 0);
    for (unsigned r = 0; r < run->cfg.workers; r++)
        run->adder[thread].down[r] = &run->workers[r].down;
}

/* Our worker */

static void send_up(void *ctx, const uint8_t *payload, size_t bytes)
{
    struct tat_worker *w = ctx;

    link_send(&w->up, frame_new(w->rank, SML_PORT_FIRST, 0, payload, bytes, false));
}

static void open_stream(struct tat_worker *w, unsigned thread)
{
    const struct tat_config *cfg = &w->run->cfg;
    struct tat_thread *t = &w->thread[thread];
    struct sml_stream_config sc = {
        .rank = (uint16_t)w->rank,
        .workers = (uint16_t)cfg->workers,
        .slots = slots_each(cfg),
        .format = XFER_FORMAT_TYPED,
        .chunk_bytes = cfg->chunk_bytes,
        .job = (uint8_t)(JOB + thread),
        .kernels = kernels_or_exit(),
    };

    t->stream = sml_stream_init(memory_of(sml_stream_footprint(&sc)), &sc);
    sender_init(&t->sender, t->stream, &w->up, w->rank);
}

static void begin_share(struct tat_worker *w, unsigned thread)
{
    const struct tat_run *run = w->run;
    const struct xfer_call call = {.collective = XFER_ALLREDUCE,
                                   .type = AGG_I32,
                                   .op = AGG_SUM,
                                   .count = run->count,
                                   .share = (uint8_t)thread,
                                   .shares = (uint8_t)run->cfg.threads};

    if (sml_stream_begin(w->thread[thread].stream, &call, run->in, run->out, run->sim.now) != 0)
        sim_die("the collective cannot begin");
    sender_turn(&w->thread[thread].sender);
}

/* Each worker's threads wake in another order. */
static void begin_call(struct tat_worker *w)
{
    const unsigned threads = w->run->cfg.threads;

    w->begun++;
    for (unsigned i = 0; i < threads; i++)
        begin_share(w, (w->rank + i) % threads);
}

static bool is_through(const struct tat_worker *w)
{
    for (unsigned i = 0; i < w->run->cfg.threads; i++)
        if (sml_stream_status(w->thread[i].stream) != XFER_DONE)
            return false;
    return true;
}

/* Either */

static void at_worker(void *ctx, struct frame *f)
{
    struct tat_worker *w = ctx;

    if (w->run->cfg.kind == TAT_PAPER) {
        paper_worker_receive(&w->paper, f->payload, f->bytes);
    } else {
        struct tat_thread *t = &w->thread[thread_of(w->run, f)];
        sml_stream_receive(t->stream, f->payload, f->bytes, w->run->sim.now);
        sender_turn(&t->sender);
        if (is_through(w) && w->begun < w->run->cfg.calls)
            begin_call(w);
    }
    frame_free(f);
}

static void start_worker(struct tat_worker *w)
{
    const struct tat_config *cfg = &w->run->cfg;

    if (cfg->kind == TAT_OURS) {
        for (unsigned i = 0; i < cfg->threads; i++)
            open_stream(w, i);
        begin_call(w);
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
                                       : w->begun < run->cfg.calls || !is_through(w))
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
        for (unsigned i = 0; i < run->cfg.threads && w->thread[i].stream != NULL; i++) {
            struct xfer_stats stats;
            sml_stream_stats(w->thread[i].stream, &stats);
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
    }
    for (unsigned i = 0; i < run->cfg.threads; i++)
        open_adder(run, i);
    run->rounds = rng_fork(&rng);
    for (unsigned i = 0; i < run->cfg.shards; i++)
        link_init(&run->shard[i].wait, &run->sim, &rng, at_pool, run);
}

static void close_run(struct tat_run *run)
{
    for (unsigned r = 0; r < run->cfg.workers; r++) {
        struct tat_worker *w = &run->workers[r];
        link_fini(&w->up);
        link_fini(&w->down);
        paper_worker_fini(&w->paper);
        for (unsigned t = 0; t < run->cfg.threads; t++)
            free(w->thread[t].stream);
    }
    for (unsigned i = 0; i < run->cfg.shards; i++)
        link_fini(&run->shard[i].wait);
    free(run->workers);
    for (unsigned i = 0; i < run->cfg.threads; i++)
        adder_close(&run->adder[i]);
    free(run->in);
    free(run->out);
    sim_fini(&run->sim);
}

struct tat_result tat_run(const struct tat_config *cfg)
{
    struct tat_run run = {.cfg = *cfg};
    struct tat_result result = {.exact = true};

    if (cfg->kind == TAT_PAPER)
        run.cfg.threads = run.cfg.calls = 1;
    open_run(&run);
    for (unsigned r = 0; r < cfg->workers; r++)
        start_worker(&run.workers[r]);
    while (!all_done(&run))
        if (!sim_step(&run.sim))
            sim_die("nothing is left to happen, and the sum is not there");
    result.seconds = (double)run.sim.now / (double)S / run.cfg.calls;
    result.wire_share = ideal_seconds(&run) / result.seconds;
    for (uint64_t i = 0; i < run.count; i++)
        result.exact &= run.out[i] == (int32_t)((uint32_t)run.in[i] * cfg->workers);
    count_packets(&run, &result);
    close_run(&run);
    return result;
}
