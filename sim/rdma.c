#include "rdma.h"

#include <inttypes.h>
#include <stdlib.h>

#include "carry.h"
#include "kernels_chosen.h"
#include "memory.h"
#include "roce/protocol.h"
#include "roce/terms.h"
#include "roce/worker.h"
#include "star.h"
#include "wire/bytes.h"

enum {
    WORKERS_MAX = 6,
    FIRST_PAIR = 0x100, /* of worker 0; the others' are as many further on */
    KEY = 0x7000,
    SOURCE_PORT = 49152,
};
#define TICK_NS  (10 * MS)    /* of the switch */
#define QUIET_NS (200 * MS)   /* the job starts over when nothing was heard for so long */
#define PAUSE_NS (400 * MS)   /* between runs; longer than that, and than any packet is under way */
#define CALM_NS  (1000 * MS)  /* from then on no link does anything wrong */
#define HELD_NS  (3 * MS)     /* packets that are held back */
#define END_NS   (30000 * MS) /* of simulated time, at most */

/* Sums that are right on a worker; messages that workers sent again; sums not in order; runs; times that
 * slots started over; frames. */
enum { TENSORS = SEEDS_OWN, AGAIN, VOIDED, KILLED, RENEWED, DAMAGED };

struct rdma;

struct rdma_worker {
    struct rdma *all;
    unsigned rank;
    struct rce_worker nic;
    uint8_t *memory, *from, *to; /* registered; the tensor and its sum */
    unsigned tensor;             /* in progress, or next */
    uint64_t looks_at;           /* when it looks after its time-outs; UINT64_MAX: it need not */
};

struct rdma {
    struct sim sim;
    uint64_t rng;
    struct star star;
    unsigned workers, runs, tensors;
    struct rce_terms terms;
    uint32_t messages_most;
    uint64_t seed, timeout_ns;
    bool unstable; /* runs are killed, and the switch between them */
    /* The switch. */
    struct agg_jobs jobs;
    struct agg_job *job;
    struct agg_pool_config pool;
    struct rce_member member[WORKERS_MAX];
    bool worked;
    uint64_t heard_at;
    /* The workers. */
    unsigned run, life, busy; /* life counts starts: events of an earlier one do nothing; busy: at work */
    struct rdma_worker worker[WORKERS_MAX];
    struct seeds_end end;
};

/* In the place of IPv4's and UDP's headers, which ICRCs cover. */
static const uint8_t no_headers[CARRY_HEADERS_BYTES];

static void fail(struct rdma *w, const char *why)
{
    sim_trace(&w->sim, "judge", "FAILED: %s", why);
    if (!w->end.failed)
        snprintf(w->end.text, sizeof(w->end.text), "%s", why);
    w->end.failed = true;
}

/* --- tensors --- */

static uint32_t messages_of(const struct rdma *w, unsigned tensor)
{
    uint64_t drawn = w->seed ^ (w->run << 16 | tensor) * UINT64_C(0x9e3779b97f4a7c15);

    return (uint32_t)rng_between(&drawn, 1, w->messages_most);
}

static size_t message_bytes(const struct rdma *w)
{
    return (size_t)w->terms.packets * w->terms.packet_bytes;
}

/* Adds this rank's tensor to what is there, in the order of the wire. */
static void add_tensor(const struct rdma *w, unsigned rank, unsigned tensor, uint8_t *sum, size_t bytes)
{
    uint64_t drawn = (w->seed << 20) ^ (uint64_t)(w->run << 16 | tensor << 8 | rank);

    for (size_t at = 0; at < bytes; at += 4)
        put_be32(sum + at, get_be32(sum + at) + (uint32_t)rng_next(&drawn));
}

static void judge(struct rdma_worker *n, size_t bytes)
{
    struct rdma *w = n->all;
    uint8_t *sum = memory_of(bytes);

    for (unsigned rank = 0; rank < w->workers; rank++)
        add_tensor(w, rank, n->tensor, sum, bytes);
    if (memcmp(sum, n->to, bytes) != 0)
        fail(w, "a sum is wrong");
    for (size_t at = 0; at < bytes; at += 4)
        w->end.digest = (w->end.digest ^ get_be32(n->to + at)) * UINT64_C(0x100000001b3) + w->sim.now;
    free(sum);
    w->end.count[TENSORS]++;
}

/* --- a worker with its NIC --- */

static void look_after(void *ctx, uint64_t life);

static void turn(struct rdma_worker *n)
{
    struct rdma *w = n->all;
    uint8_t payload[RCE_PACKET_MAX];
    uint64_t next = rce_worker_tick(&n->nic, w->sim.now);

    for (size_t bytes; (bytes = rce_worker_send(&n->nic, w->sim.now, payload)) > 0;) {
        roce_seal(no_headers, payload, bytes);
        star_send_up(&w->star, n->rank, SOURCE_PORT, ROCE_PORT, payload, bytes, true);
        next = w->sim.now + w->timeout_ns;
    }
    if (next < n->looks_at || n->looks_at <= w->sim.now) {
        n->looks_at = next;
        if (next != UINT64_MAX)
            sim_at(&w->sim, next, look_after, n, w->life);
    }
}

static void look_after(void *ctx, uint64_t life)
{
    struct rdma_worker *n = ctx;

    if (life == n->all->life && n->all->sim.now >= n->looks_at)
        turn(n);
}

static void begin_tensor(void *ctx, uint64_t life)
{
    struct rdma_worker *n = ctx;
    struct rdma *w = n->all;
    const uint32_t messages = messages_of(w, n->tensor);

    if (life != w->life)
        return;
    memset(n->from, 0, messages * message_bytes(w));
    memset(n->to, 0xa5, messages * message_bytes(w));
    add_tensor(w, n->rank, n->tensor, n->from, messages * message_bytes(w));
    rce_worker_begin(&n->nic, n->from, n->to, messages);
    turn(n);
}

static void next_run(void *ctx, uint64_t unused);

/* Workers, and sometimes the switch, are started anew when all has been left alone for a while. */
static void end_run(struct rdma *w)
{
    for (unsigned rank = 0; rank < w->workers; rank++) {
        w->end.count[AGAIN] += w->worker[rank].nic.stats.timeouts;
        w->end.count[VOIDED] += w->worker[rank].nic.stats.voided;
    }
    w->life++;
    if (++w->run < w->runs)
        sim_at(&w->sim, w->sim.now + PAUSE_NS, next_run, w, 0);
}

static void end_tensor(struct rdma_worker *n)
{
    struct rdma *w = n->all;

    judge(n, n->nic.messages * message_bytes(w));
    sim_trace(&w->sim, "worker", "%u has tensor %u", n->rank, n->tensor);
    if (++n->tensor < w->tensors)
        sim_at(&w->sim, w->sim.now + rng_below(&w->rng, 2 * w->timeout_ns), begin_tensor, n, w->life);
    else if (--w->busy == 0)
        end_run(w);
}

static void at_worker(void *ctx, struct frame *f)
{
    struct rdma *w = ctx;
    struct rdma_worker *n = &w->worker[f->host];
    struct roce_packet p;

    if (w->busy > 0 && roce_parse(&p, f->payload, f->bytes) == ROCE_OK) {
        if (roce_icrc_holds(no_headers, f->payload, f->bytes)) {
            const bool worked = !rce_worker_is_done(&n->nic);

            rce_worker_receive(&n->nic, f->payload, f->bytes);
            turn(n);
            if (worked && rce_worker_is_done(&n->nic))
                end_tensor(n);
        } else if (!f->damaged) {
            fail(w, "the switch has sent a wrong ICRC");
        }
    }
    frame_free(f);
}

static void kill_run(void *ctx, uint64_t life)
{
    struct rdma *w = ctx;

    if (life != w->life || w->busy == 0)
        return;
    sim_trace(&w->sim, "workers", "are killed");
    w->end.count[KILLED]++;
    w->busy = 0;
    end_run(w);
}

/* --- the switch --- */

static void start_over(struct rdma *w)
{
    w->job->pool = w->job->protocol->init(w->job->pool, &w->pool);
    w->worked = false;
    w->end.count[RENEWED]++;
    sim_trace(&w->sim, "switch", "starts over");
}

static void tick(void *ctx, uint64_t unused)
{
    struct rdma *w = ctx;

    (void)unused;
    if (w->job->protocol->heard(w->job->pool)) {
        w->worked = true;
        w->heard_at = w->sim.now;
    }
    if (w->worked && w->sim.now - w->heard_at >= QUIET_NS) {
        if (w->busy > 0)
            fail(w, "the job starts over while its workers are at it");
        start_over(w);
    }
    if (w->run < w->runs)
        sim_at(&w->sim, w->sim.now + TICK_NS, tick, w, 0);
}

static void send_down(void *ctx, const struct agg_job *job, const struct agg_packet *answered,
                      const struct carried *what)
{
    struct rdma *w = ctx;

    (void)job, (void)answered;
    star_send_down(&w->star, what->rank, ROCE_PORT, ROCE_PORT, what->payload, what->bytes, true);
}

static struct agg_sender address(unsigned host)
{
    const struct ctl_endpoint at = star_endpoint(host, ROCE_PORT);

    return carry_sender(at.mac, at.ip, ROCE_PORT);
}

static void at_switch(void *ctx, struct frame *f)
{
    struct rdma *w = ctx;
    uint8_t whole[CARRY_HEADERS_BYTES + RCE_PACKET_MAX] = {0};
    struct agg_packet p = {.payload = whole + CARRY_HEADERS_BYTES,
                           .bytes = f->bytes,
                           .headers = whole,
                           .from = address(f->host)};
    struct agg_verdict v;

    memcpy(p.payload, f->payload, f->bytes);
    w->job->protocol->locate(&w->jobs, &p, 1);
    w->job->protocol->apply(&p, 1, w->sim.now, &v);
    if (v.reason == RCE_DROP_BAD_ICRC && !f->damaged)
        fail(w, "a worker's ICRC does not hold");
    if (p.job != NULL)
        carry_out(p.job, &p, &v, send_down, w);
    frame_free(f);
}

static void open_switch(struct rdma *w)
{
    struct agg_sender members[WORKERS_MAX];

    w->pool = (struct agg_pool_config){.workers = (uint16_t)w->workers,
                                       .kernels = kernels_or_exit(),
                                       .particulars = {w->member, sizeof(w->member)}};
    rce_terms_build(&w->pool.terms, &w->terms);
    for (unsigned rank = 0; rank < w->workers; rank++) {
        members[rank] = address(rank);
        w->member[rank].key = KEY + rank;
        for (unsigned i = 0; i < w->terms.queue_pairs; i++)
            w->member[rank].queue_pair[i] = FIRST_PAIR * (rank + 1) + i;
    }
    w->job = carry_open(&w->jobs, &rce_protocol, &w->pool, members, NULL);
    if (w->job == NULL)
        sim_die("the terms of the job are out of range");
}

/* --- a scenario --- */

static void start_worker(struct rdma *w, unsigned rank)
{
    struct rdma_worker *n = &w->worker[rank];
    const struct rce_worker_config cfg = {.rank = (uint16_t)rank,
                                          .queue_pairs = w->terms.queue_pairs,
                                          .packet_bytes = w->terms.packet_bytes,
                                          .packets = w->terms.packets,
                                          .first_queue_pair = FIRST_PAIR * (rank + 1),
                                          .key = KEY + rank,
                                          .address = UINT64_C(1) << 44,
                                          .memory = n->memory,
                                          .timeout_ns = w->timeout_ns};

    rce_worker_init(&n->nic, &cfg);
    n->tensor = 0;
    n->looks_at = UINT64_MAX;
    sim_at(&w->sim, w->sim.now + rng_below(&w->rng, 4 * w->timeout_ns), begin_tensor, n, w->life);
}

static void next_run(void *ctx, uint64_t unused)
{
    struct rdma *w = ctx;

    (void)unused;
    if (w->unstable && rng_chance(&w->rng, PPM / 4))
        start_over(w);
    sim_trace(&w->sim, "workers", "start");
    w->busy = w->workers;
    for (unsigned rank = 0; rank < w->workers; rank++)
        start_worker(w, rank);
    if (w->unstable && w->run + 1 < w->runs && rng_chance(&w->rng, PPM / 2))
        sim_at(&w->sim, w->sim.now + rng_magnitude(&w->rng, w->timeout_ns / 10, 20 * w->timeout_ns), kill_run,
               w, w->life);
}

static struct link_quality draw_quality(uint64_t *rng, bool bad)
{
    struct link_quality q = {.bits_per_s = rng_magnitude(rng, UINT64_C(100000000), UINT64_C(10000000000)),
                             .delay = rng_magnitude(rng, 1 * US, 50 * US)};

    if (bad) {
        q.loss_ppm = (uint32_t)rng_magnitude(rng, 100, 30000);
        q.loss_burst = (uint32_t)rng_between(rng, 1, 4);
        q.duplicate_ppm = (uint32_t)rng_below(rng, 20000);
        q.corrupt_ppm = (uint32_t)rng_below(rng, 10000);
        q.delay_ppm = (uint32_t)rng_below(rng, 10000);
        q.held_ns = HELD_NS;
    }
    return q;
}

static void calm(void *ctx, uint64_t unused)
{
    struct rdma *w = ctx;

    (void)unused;
    for (unsigned host = 0; host < w->workers; host++)
        for (unsigned up = 0; up < 2; up++) {
            struct link_quality *q = up ? &w->star.up[host].quality : &w->star.down[host].quality;

            *q = (struct link_quality){.bits_per_s = q->bits_per_s, .delay = q->delay};
        }
}

static void draw(struct rdma *w, uint64_t seed)
{
    w->seed = w->rng = seed;
    w->workers = (unsigned)rng_between(&w->rng, 1, WORKERS_MAX);
    w->runs = (unsigned)rng_between(&w->rng, 1, 3);
    w->tensors = (unsigned)rng_between(&w->rng, 1, 4);
    w->messages_most = (uint32_t)rng_magnitude(&w->rng, 1, 32);
    w->terms = (struct rce_terms){.queue_pairs = (uint16_t)rng_between(&w->rng, 1, 6),
                                  .packet_bytes = (uint16_t)(128 << rng_below(&w->rng, 2)),
                                  .packets = (uint16_t)(1 << rng_below(&w->rng, 4))};
    w->timeout_ns = rng_magnitude(&w->rng, 1 * MS, 8 * MS);
    w->unstable = rng_chance(&w->rng, PPM / 2);
}

static void open_world(struct rdma *w, FILE *trace)
{
    const size_t room = w->messages_most * message_bytes(w);
    const bool bad = !rng_chance(&w->rng, PPM / 8);

    sim_init(&w->sim, trace);
    star_init(&w->star, &w->sim, &w->rng, w->workers, at_switch, w, at_worker, w);
    open_switch(w);
    for (unsigned rank = 0; rank < w->workers; rank++) {
        struct rdma_worker *n = &w->worker[rank];

        w->star.up[rank].quality = draw_quality(&w->rng, bad);
        w->star.down[rank].quality = draw_quality(&w->rng, bad);
        *n = (struct rdma_worker){.all = w, .rank = rank, .from = memory_of(room), .to = memory_of(room)};
        n->memory = memory_of(w->terms.queue_pairs * message_bytes(w));
    }
    sim_at(&w->sim, CALM_NS, calm, w, 0);
    next_run(w, 0);
    tick(w, 0);
}

static void close_world(struct rdma *w)
{
    for (unsigned rank = 0; rank < w->workers; rank++) {
        const struct link_stats *const stats[] = {&w->star.up[rank].stats, &w->star.down[rank].stats};

        for (unsigned i = 0; i < 2; i++) {
            w->end.count[SEEDS_FRAMES] += stats[i]->sent;
            w->end.count[SEEDS_LOST] += stats[i]->lost;
            w->end.count[DAMAGED] += stats[i]->corrupted;
        }
        free(w->worker[rank].memory);
        free(w->worker[rank].from);
        free(w->worker[rank].to);
    }
    w->end.count[SEEDS_EVENTS] = w->sim.events;
    w->end.count[SEEDS_SIMULATED_NS] = w->sim.now;
    star_fini(&w->star);
    carry_close(&w->jobs, w->job);
    sim_fini(&w->sim);
}

static struct seeds_end play(uint64_t seed, FILE *trace)
{
    struct rdma *w = memory_of(sizeof(*w));
    struct seeds_end end;

    draw(w, seed);
    open_world(w, trace);
    while (w->run < w->runs && !w->end.failed) {
        if (!sim_step(&w->sim))
            fail(w, "nothing is left to happen, and the sums are not there");
        else if (w->sim.now > END_NS)
            fail(w, "the sums do not come");
    }
    close_world(w);
    end = w->end;
    free(w);
    return end;
}

bool rdma_run(uint64_t first, uint64_t count, bool trace)
{
    const struct seeds_tally t = seeds_run("rdma", play, first, count, trace);

    printf("%" PRIu64 " scenarios of RDMA, %" PRIu64 " failed; %" PRIu64
           " tensors are right on a worker, %" PRIu64 " messages sent again, %" PRIu64 " sums void; %" PRIu64
           " runs killed, slots started over %" PRIu64 " times; %" PRIu64 " events, %" PRIu64
           " frames, %" PRIu64 " lost, %" PRIu64 " damaged; %.0f s simulated in %.1f s\n",
           count, t.failed, t.count[TENSORS], t.count[AGAIN], t.count[VOIDED], t.count[KILLED],
           t.count[RENEWED], t.count[SEEDS_EVENTS], t.count[SEEDS_FRAMES], t.count[SEEDS_LOST],
           t.count[DAMAGED], (double)t.count[SEEDS_SIMULATED_NS] / 1e9, t.seconds);
    return t.failed == 0;
}
