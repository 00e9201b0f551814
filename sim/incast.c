#include "incast.h"

#include <stdlib.h>
#include <string.h>

#include "adder.h"
#include "kernels_chosen.h"
#include "look_up.h"
#include "memory.h"
#include "sender.h"

enum { JOB = 1, SLOTS = 1024, CHUNK_BYTES = 1460, DELAY_US = 20, SKEW_US = 2000 };

struct incast_worker {
    struct incast *run;
    unsigned rank, calls; /* calls that it has begun */
    struct link up, down; /* between the worker and the bridge */
    struct sml_stream *stream;
    uint8_t *out;
    struct sender sender;
    bool resting; /* between calls */
};

struct incast {
    struct incast_config cfg;
    struct sim sim;
    uint64_t rng;
    struct adder server;
    struct link up, down; /* between the bridge and the server */
    struct incast_worker *workers;
    struct sml_table table;
    struct xfer_call call;
    size_t in_bytes, out_bytes;
    uint8_t *in, *expected; /* all ranks contribute the same */
    unsigned at_work;       /* ranks that are in the call */
    uint64_t begun_at;
    struct incast_result result;
};

/* Sums of 8 bits have room for few ranks. */
static uint8_t code_of(const struct incast_config *c)
{
    if (!c->compressed)
        return agg_code(AGG_I32, AGG_SUM);
    return SML_INDEX_BITS_MAX | (c->workers > 8 ? SML_WIDE_SUMS : 0);
}

/* The bridge before the server */

static void to_server(void *ctx, struct frame *f)
{
    struct incast *run = ctx;

    link_send(&run->up, f);
}

static void to_worker(void *ctx, struct frame *f)
{
    struct incast *run = ctx;

    link_send(&run->workers[f->host].down, f);
}

/* A worker */

static void begin(void *ctx, uint64_t argument)
{
    struct incast_worker *w = ctx;
    struct incast *run = w->run;
    (void)argument;

    if (run->at_work++ == 0)
        run->begun_at = run->sim.now;
    w->resting = false;
    w->calls++;
    memset(w->out, 0, run->out_bytes);
    if (sml_stream_begin(w->stream, &run->call, run->in, w->out, run->sim.now) != 0)
        sim_die("the collective cannot begin");
    sender_turn(&w->sender);
}

static void begin_soon(struct incast_worker *w)
{
    struct incast *run = w->run;

    sim_at(&run->sim, run->sim.now + rng_below(&run->rng, SKEW_US * US), begin, w, 0);
}

/* When all ranks are, they go on with the next one, at slightly different times. */
static void end(struct incast_worker *w)
{
    struct incast *run = w->run;

    w->resting = true;
    run->result.exact &= memcmp(w->out, run->expected, run->out_bytes) == 0;
    if (--run->at_work > 0)
        return;
    run->result.seconds[w->calls - 1] = (double)(run->sim.now - run->begun_at) / (double)S;
    for (unsigned r = 0; r < run->cfg.workers && w->calls < run->cfg.calls; r++)
        begin_soon(&run->workers[r]);
}

static void at_worker(void *ctx, struct frame *f)
{
    struct incast_worker *w = ctx;

    sml_stream_receive(w->stream, f->payload, f->bytes, w->run->sim.now);
    frame_free(f);
    sender_turn(&w->sender);
    if (!w->resting && sml_stream_status(w->stream) == XFER_DONE)
        end(w);
}

/* All together */

static void open_tensors(struct incast *run)
{
    const struct incast_config *c = &run->cfg;
    const struct sml_element e = sml_element_of(code_of(c));

    run->call = (struct xfer_call){.collective = XFER_ALLREDUCE,
                                   .type = c->compressed ? code_of(c) : AGG_I32,
                                   .op = c->compressed ? SML_LOOK_UP : AGG_SUM,
                                   .count = c->bytes / e.out};
    run->in_bytes = run->call.count * e.in;
    run->out_bytes = run->call.count * e.out;
    run->in = memory_of(run->in_bytes);
    run->expected = memory_of(run->out_bytes);
    for (size_t i = 0; i < run->in_bytes; i++)
        run->in[i] = (uint8_t)rng_below(&run->rng, 256);
    for (unsigned r = 0; r < c->workers && c->compressed; r++)
        look_up_add(&run->table, run->expected, run->in, run->call.count);
    for (uint64_t i = 0; i < run->call.count && !c->compressed; i++)
        ((uint32_t *)run->expected)[i] = ((uint32_t *)run->in)[i] * c->workers;
}

/* All sums leave on its one link. */
static void open_server(struct incast *run)
{
    const struct sml_pool_config cfg = {
        .workers = (uint16_t)run->cfg.workers,
        .slots = SLOTS,
        .chunk_bytes = CHUNK_BYTES,
        .job = JOB,
        .format = XFER_FORMAT_TYPED,
        .mode = XFER_ON_ARRIVAL,
        .table = run->table,
        .kernels = kernels_or_exit(),
    };

    adder_open(&run->server, &cfg, 0);
    for (unsigned r = 0; r < run->cfg.workers; r++)
        run->server.down[r] = &run->down;
}

static void open_link(struct incast *run, struct link *link, link_receiver *receiver, void *ctx)
{
    link_init(link, &run->sim, &run->rng, receiver, ctx);
    link->quality = (struct link_quality){.bits_per_s = run->cfg.bits_per_s,
                                          .delay = DELAY_US * US,
                                          .queue_bytes = run->cfg.queue_bytes,
                                          .loss_ppm = run->cfg.loss_ppm};
}

static void open_worker(struct incast *run, unsigned rank)
{
    struct incast_worker *w = &run->workers[rank];
    const struct sml_stream_config cfg = {
        .rank = (uint16_t)rank,
        .workers = (uint16_t)run->cfg.workers,
        .slots = SLOTS,
        .chunk_bytes = CHUNK_BYTES,
        .format = XFER_FORMAT_TYPED,
        .look_up = run->table.code,
        .job = JOB,
        .kernels = kernels_or_exit(),
    };

    w->run = run;
    w->rank = rank;
    w->resting = true;
    w->out = memory_of(run->out_bytes);
    w->stream = sml_stream_init(room_of(sml_stream_footprint(&cfg)), &cfg);
    open_link(run, &w->up, to_server, run);
    open_link(run, &w->down, at_worker, w);
    sender_init(&w->sender, w->stream, &w->up, rank);
    begin_soon(w);
}

static void open_run(struct incast *run)
{
    const struct incast_config *c = &run->cfg;

    sim_init(&run->sim, NULL);
    run->rng = c->seed;
    run->result.exact = true;
    if (c->compressed)
        run->table = look_up_table(&run->rng, code_of(c), c->workers);
    open_tensors(run);
    open_server(run);
    open_link(run, &run->up, adder_receive, &run->server);
    open_link(run, &run->down, to_worker, run);
    run->workers = memory_of(c->workers * sizeof(*run->workers));
    for (unsigned r = 0; r < c->workers; r++)
        open_worker(run, r);

    const double chunks = (double)sml_stream_packets(run->workers[0].stream, &run->call);
    const double wire = chunks * (SML_HEADER_BYTES + FRAME_WIRE_OVERHEAD) + (double)run->out_bytes;
    run->result.ideal = wire * c->workers * 8 / (double)c->bits_per_s;
}

static void close_run(struct incast *run)
{
    for (unsigned r = 0; r < run->cfg.workers; r++) {
        struct incast_worker *w = &run->workers[r];
        struct xfer_stats stats;

        sml_stream_stats(w->stream, &stats);
        run->result.probes += stats.probes;
        link_fini(&w->up);
        link_fini(&w->down);
        free(w->stream);
        free(w->out);
    }
    run->result.packets = run->down.stats.sent;
    run->result.dropped = run->down.stats.overflowed;
    link_fini(&run->up);
    link_fini(&run->down);
    free(run->workers);
    adder_close(&run->server);
    free(run->in);
    free(run->expected);
    sim_fini(&run->sim);
}

struct incast_result incast_run(const struct incast_config *cfg)
{
    struct incast run = {.cfg = *cfg};

    open_run(&run);
    while (run.result.seconds[cfg->calls - 1] == 0)
        if (!sim_step(&run.sim))
            sim_die("nothing is left to happen, and the sums are not there");
    close_run(&run);
    return run.result;
}
