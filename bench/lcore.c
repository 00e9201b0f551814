/* What one lcore of the daemon takes for a frame where the device moves data for nothing (prepared.h), beside
 * a bound measured in the same run: the time that macswap takes over the same device, and that of a bare loop
 * which reads a payload, adds it to a sum and writes that.
 *
 *     bench-lcore FRAME|roce cold|warm device|switch [ROUNDS] [-- EAL OPTIONS]
 *
 * FRAME: bytes on the wire, the FCS included. roce: not beside that bound, but what it takes for a frame of
 * SwitchML by RDMA beside one of SwitchML by UDP, both with the longest payload that the former can have, of
 * int32, as published workers send it. Cold: before each pass all buffers and all slots are put out of
 * every cache, so that payloads, sums and headers come from memory, as with a NIC that knows no DDIO; but for
 * headers of what the lcore has had just before, to send it or to free it. Warm:
 * as many frames as fit the second-level cache, written just before, as with one that has. device: checksums
 * are compared by the device, as NICs do it; switch: by the switch.
 *
 * A job of 8 workers that send float32, to be added on arrival. Each worker is an eighth of the slots behind
 * the one before, so that a chunk's contributions are as far apart as there are frames in a pass, and as many
 * chunks are begun as completed in every burst. The three take turns, pass by pass; times are the thread's
 * own, so that other programs take nothing from them. Of the answers that the device still has, each is
 * compared after every pass. One JSON object to stdout, ns a frame; `vs_bound` and `vs_udp` are medians of
 * the rounds'. Beside the bound: frames sent per frame received, and bytes of payload per sum (a payload is
 * `payload` bytes; lcore_counts.h). (By RDMA, messages have 16 packets, and their ICRCs are compared by the
 * switch in any case.)
 *
 * With two lcores in EAL's options each has a device of its own, which hands out the frames of its shard's
 * slots, as a NIC does that deals flows to queues; and as many of them as one has alone. They take turns with
 * themselves: each alone, then both at once; `vs_one` is how many frames both handle together in the time of
 * one, the mean of both, alone.
 *
 * Under callgrind, time_lcore is the function to count in. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_malloc.h>

#include "aggregate/jobs.h"
#include "cold.h"
#include "cold_buffers.h"
#include "kernels_chosen.h"
#include "lcore/lcore.h"
#include "lcore_counts.h"
#include "lcore_frames.h"
#include "lcore_packets.h"
#include "lcore_peers.h"
#include "prepared.h"
#include "roce/pool.h"
#include "timing.h"

enum {
    WORKERS = PACKETS_WORKERS,
    SLOTS_COLD = 2048,
    SLOTS_WARM = 128,
    ROUNDS = 31,
    ROUNDS_MOST = 1000,
    FCS = 4,
    SPARE_BUFFERS = 2048,
    CACHED_BUFFERS = 256, /* as the daemon has it */
    STATIONS = 64,
    LANES_MOST = 2,
};

static_assert((int)SLOTS_COLD <= (int)PREPARED_MOST, "a pass has a frame for each slot of the lane's");

static const struct jobs_identity us = {.mac = {{2, 0, 0, 0, 0, 0xfe}}, .ip = RTE_BE32(0x0A0000FE)};

struct scene;

/* An lcore with its device. */
struct lane {
    struct scene *scene;
    unsigned eal_lcore;
    struct port port;
    struct prepared device;
    struct inbox inbox;
    struct lcore lcore;
    double ns; /* a frame, in the last pass */
};

struct scene {
    struct lcore_frames frames;
    unsigned slots; /* of a lane */
    bool cold;
    bool begun[LANES_MOST]; /* of lanes that work together: atomic */
    uint32_t pass;          /* of the workers */
    float *sums;            /* of the bare loop, a chunk a frame, in whole lines */
    size_t sum_floats;
    struct rte_mempool *mbufs;
    struct buffers buffers; /* those */
    struct rte_rcu_qsbr *rcu;
    struct agg_kernels kernels; /* its own, to be exchanged for some that count */
    struct jobs jobs;
    struct classifier classifier;
    struct shards shards;
    struct sighting claim;
    struct loops loops;
    void *bridge;
    unsigned lanes;
    struct lane lane[LANES_MOST];
};

static _Noreturn void fail(const char *what)
{
    fprintf(stderr, "bench-lcore: %s\n", what);
    exit(1);
}

static void *take(size_t bytes)
{
    void *memory = rte_zmalloc("bench", bytes, RTE_CACHE_LINE_SIZE);

    if (memory == NULL)
        fail("no memory");
    return memory;
}

/* --- frames --- */

/* Fills a lane's device with the workers' next frames, or those of their last pass once more: every chunk
 * that is the lane's. */
static void fill(struct lane *lane, uint32_t pass)
{
    struct scene *s = lane->scene;
    const uint32_t behind = s->frames.slots / WORKERS; /* chunks; as many steps are in a pass */
    const unsigned begun = RTE_MIN(pass + 1, (uint32_t)WORKERS);
    struct rte_mbuf **m = prepared_refill(&lane->device, behind / s->lanes * begun);

    if (m == NULL)
        fail("too few buffers");
    for (uint32_t step = (uint32_t)(lane - s->lane); step < behind; step += s->lanes)
        for (unsigned rank = 0; rank < begun; rank++)
            lcore_frame_write(&s->frames, *m++, rank, (pass - rank) * behind + step);
}

static void prepare(struct scene *s, uint32_t pass)
{
    for (unsigned i = 0; i < s->lanes; i++)
        fill(&s->lane[i], pass);
}

/* Returns how many answers it has compared. */
static unsigned check(const struct scene *s)
{
    const unsigned n = RTE_MIN(s->slots, (unsigned)PREPARED_SENT); /* sent in the last pass */

    for (const struct lane *lane = s->lane; lane < s->lane + s->lanes; lane++) {
        const struct prepared *d = &lane->device;

        for (unsigned i = 1; i <= n; i++)
            if (!lcore_frame_is_sum(&s->frames, d->sent[(d->sends - i) & (PREPARED_SENT - 1)]))
                fail("a wrong sum");
    }
    return s->lanes * n;
}

/* --- what is cold --- */

/* Before a pass. */
static void cool(struct scene *s)
{
    const struct switch_job *job = jobs_find(&s->jobs, s->frames.packets->protocol->id, s->frames.job);

    if (!s->cold)
        return;
    cold_put_out_buffers(s->mbufs);
    cold_put_out(job->common.pool, job->bytes);
    cold_put_out(s->sums, s->slots * s->sum_floats * sizeof(float));
    rte_mb();
}

/* What the lcore has had in its hands just before stays with it: what was sent, and the buffers that are the
 * next to be given out. On its thread. */
static void keep_warm(struct lane *lane)
{
    struct rte_mbuf *next[CACHED_BUFFERS];

    if (!lane->scene->cold)
        return;
    cold_bring_in(lane->device.sent, (unsigned)RTE_MIN(lane->device.sends, (uint64_t)PREPARED_SENT));
    if (rte_pktmbuf_alloc_bulk(lane->scene->mbufs, next, CACHED_BUFFERS) < 0)
        fail("too few buffers");
    cold_bring_in(next, CACHED_BUFFERS);
    rte_pktmbuf_free_bulk(next, CACHED_BUFFERS);
}

/* --- what takes turns; each returns ns a frame --- */

static double own_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

NOT_INLINED static double time_lcore(struct lane *lane)
{
    const double start = own_ns();

    while (lcore_round(&lane->lcore, rte_rdtsc()) > 0) {
    }
    return (own_ns() - start) / lane->device.filled;
}

NOT_INLINED static double time_macswap(struct lane *lane)
{
    const double start = own_ns();

    lcore_macswap(&lane->port);
    return (own_ns() - start) / lane->device.filled;
}

NOT_INLINED static double time_loop(struct scene *s)
{
    static const float *at[PREPARED_MOST];
    const struct prepared *d = &s->lane[0].device;
    const unsigned n = d->filled;
    double start;

    for (unsigned i = 0; i < n; i++)
        at[i] = rte_pktmbuf_mtod_offset(d->ready[i], const float *,
                                        FRAME_HEADER_BYTES + s->frames.packets->head_bytes);
    cool(s);
    keep_warm(&s->lane[0]);
    start = own_ns();
    for (unsigned i = 0; i < n; i++)
        lcore_bare_loop(s->sums + i * s->sum_floats, at[i], s->frames.chunk_bytes / sizeof(float));
    return (own_ns() - start) / n;
}

/* --- the switch --- */

static void open_job(struct scene *s)
{
    static struct jobs_plan plan; /* large */
    char text[AGG_TEXT_MAX];

    s->kernels = *kernels_or_exit();
    s->jobs = (struct jobs){.rcu = s->rcu,
                            .shards = (uint16_t)s->lanes,
                            .kernels = &s->kernels,
                            .delays = true, /* as the daemon does by default */
                            .bytes_max = SIZE_MAX,
                            .frames_max = 4 * s->frames.slots};
    plan = (struct jobs_plan){.protocol = s->frames.packets->protocol,
                              .as_it_is = true,
                              .size = WORKERS,
                              .tenant = -1,
                              .name = "bench"};
    s->frames.packets->plan(&plan, s->frames.slots, s->frames.chunk_bytes);
    for (unsigned rank = 0; rank < WORKERS; rank++)
        plan.member[rank] = lcore_frames_member(&s->frames, rank);
    if (jobs_open(&s->jobs, &plan, &us, &s->frames.job, text) < 0)
        fail(text);
}

static void classify(struct scene *s)
{
    static struct classifier_table t; /* large */
    const struct agg_protocol *protocol = s->frames.packets->protocol;
    const struct classifier_rule data = {
        .taker = CLASSIFIER_PROTOCOL, .protocol = protocol->id, .key = protocol->shard_key};

    t = (struct classifier_table){.mac = us.mac, .ip = us.ip};
    s->classifier.rcu = s->rcu;
    if (!classifier_add_own(&t, protocol->udp_ports.first, protocol->udp_ports.last, &data) ||
        classifier_publish(&s->classifier, &t) < 0)
        fail("no table of rules");
}

/* As datapath_lcores.c does it. */
static void wire(struct lane *lane)
{
    struct scene *s = lane->scene;
    const struct agg_protocol *protocol = s->frames.packets->protocol;
    struct lcore *lc = &lane->lcore;

    lc->index = (unsigned)(lane - s->lane);
    lc->rcu = s->rcu;
    rte_rcu_qsbr_thread_register(s->rcu, lc->index);
    s->shards.owner[lc->index] = (uint8_t)lc->index;
    s->shards.owned[lc->index] = 1;
    lc->pace = (struct lcore_pace){.cycles_per_ms = rte_get_tsc_hz() / 1000, .stall = UINT64_MAX};
    lc->send = (struct send){.port = &lane->port,
                             .ports = 1,
                             .counters = &lc->counters,
                             .mbufs = s->mbufs,
                             .own = 1,
                             .for_others = 0};
    lc->host = (struct host){.mac = us.mac,
                             .ip = us.ip,
                             .mbufs = s->mbufs,
                             .ones_sum = s->jobs.kernels->ones_sum,
                             .send = &lc->send,
                             .counters = &lc->counters};
    lc->engine = (struct engine){.lcore = lc->index,
                                 .shards = &s->shards,
                                 .buffers = &s->buffers,
                                 .counters = &lc->counters,
                                 .jobs_running = &s->jobs.count,
                                 .ns_per_cycle = 1e9 / (double)rte_get_tsc_hz(),
                                 .egress = {.bridge = s->bridge,
                                            .send = &lc->send,
                                            .counters = &lc->counters,
                                            .mbufs = s->mbufs,
                                            .ones_sum = s->jobs.kernels->ones_sum,
                                            .multi_segment = true},
                                 .strangers = {.boot_id = 77, .data_ports = 1}};
    lc->engine.source[protocol->id].table = protocol;
    lc->engine.source[protocol->id].jobs = &s->jobs.running[protocol->id];
    fair_init(&lc->engine.fair);
    strangers_init(&lc->engine.strangers, 1);
    lc->receive = (struct receive){.port = &lane->port,
                                   .mbufs = s->mbufs,
                                   .classifier = &s->classifier,
                                   .bridge = s->bridge,
                                   .claim = &s->claim,
                                   .loops = &s->loops,
                                   .host = &lc->host,
                                   .engine = &lc->engine,
                                   .to_control = &lane->inbox,
                                   .send = &lc->send,
                                   .counters = &lc->counters,
                                   .queues = 1};
    ctl_intake_rules_init(&lane->inbox.rules, WORKERS, 1);
    ctl_intake_init(&lc->receive.intake, &lane->inbox.rules);
}

static void open_lane(struct lane *lane, struct scene *s, unsigned eal_lcore)
{
    lane->scene = s;
    lane->eal_lcore = eal_lcore;
    prepared_open(&lane->port, &lane->device, s->mbufs, (uint16_t)(s->frames.bytes + sizeof(struct net_tag)),
                  s->frames.compared);
    wire(lane);
}

static void open_scene(struct scene *s)
{
    const unsigned room = RTE_PKTMBUF_HEADROOM + RTE_ALIGN_CEIL(s->frames.bytes, 1024u);
    unsigned id, n = 0;

    s->rcu = take(rte_rcu_qsbr_get_memsize(LANES_MOST));
    s->bridge = take(bridge_footprint(STATIONS));
    bridge_init(s->bridge, STATIONS, 1);
    s->sum_floats = RTE_ALIGN_CEIL(s->frames.chunk_bytes, RTE_CACHE_LINE_SIZE) / sizeof(float);
    s->sums = take(s->slots * s->sum_floats * sizeof(float));
    s->mbufs = rte_pktmbuf_pool_create(s->frames.packets->name,
                                       s->lanes * (4 * s->slots + SPARE_BUFFERS + PREPARED_SENT),
                                       CACHED_BUFFERS, 0, (uint16_t)room, SOCKET_ID_ANY);
    if (s->mbufs == NULL || rte_rcu_qsbr_init(s->rcu, LANES_MOST) != 0)
        fail("no memory for buffers");
    s->buffers = (struct buffers){.n = 1, .pool = {s->mbufs}};
    s->shards.n = s->lanes;
    s->loops = (struct loops){.number = {101, 102, 103}, .window = rte_get_tsc_hz()};
    open_job(s);
    lcore_frames_begin(&s->frames, take(s->frames.bytes), &us, s->jobs.kernels->ones_sum);
    classify(s);
    RTE_LCORE_FOREACH(id)
    {
        if (n == s->lanes)
            break;
        open_lane(&s->lane[n++], s, id);
    }
}

static void close_scene(struct scene *s)
{
    jobs_free(&s->jobs);
    classifier_free(&s->classifier);
    for (unsigned i = 0; i < s->lanes; i++)
        prepared_close(&s->lane[i].device);
    if (rte_mempool_in_use_count(s->mbufs) != 0)
        fail("buffers are lost");
}

/* --- the measurement --- */

/* One lane's pass, when all that are in it have come so far. An lcore_function_t; argument: the lane. */
static int run_pass(void *argument)
{
    struct lane *lane = argument;
    struct scene *s = lane->scene;

    keep_warm(lane);
    __atomic_store_n(&s->begun[lane - s->lane], true, __ATOMIC_RELEASE);
    for (unsigned i = 0; i < s->lanes; i++)
        while (!__atomic_load_n(&s->begun[i], __ATOMIC_ACQUIRE))
            rte_pause();
    lane->ns = time_lcore(lane);
    if (lane->lcore.counters.event[EVENT_GRADIENTS] == 0 || lane->device.received != lane->device.filled)
        fail("the lcore has not handled the frames");
    return 0;
}

/* Of the lanes in this mask, at once. */
static void run_lanes(struct scene *s, unsigned mask)
{
    for (unsigned i = 0; i < s->lanes; i++)
        s->begun[i] = (mask & 1u << i) == 0;
    cool(s);
    for (unsigned i = 1; i < s->lanes; i++)
        if ((mask & 1u << i) != 0 && rte_eal_remote_launch(run_pass, &s->lane[i], s->lane[i].eal_lcore) < 0)
            fail("an lcore is at work still");
    if ((mask & 1u) != 0)
        run_pass(&s->lane[0]);
    rte_eal_mp_wait_lcore();
}

static void lcore_pass(struct scene *s)
{
    prepare(s, s->pass++);
    run_lanes(s, (1u << s->lanes) - 1);
}

/* After all that is timed: a pass, which is in nobody's count of instructions. */
static void print_counts(struct scene *s)
{
    struct lane *lane = &s->lane[0];
    struct lcore_counts c;

    lcore_counts_begin(&c, &s->kernels, agg_code(AGG_F32, AGG_SUM), &lane->port);
    lane->lcore.host.ones_sum = lane->lcore.engine.egress.ones_sum = s->kernels.ones_sum;
    prepare(s, s->pass++);
    while (lcore_round(&lane->lcore, rte_rdtsc()) > 0) {
    }
    check(s);
    lcore_counts_print(&c, WORKERS, s->frames.chunk_bytes);
}

/* frame: as it was asked for; its elements are whole ones, so it may be shorter. */
static void measure(struct scene *s, unsigned frame, unsigned rounds)
{
    static double lcore[ROUNDS_MOST], macswap[ROUNDS_MOST], loop[ROUNDS_MOST], vs_bound[ROUNDS_MOST];
    unsigned checked = 0;

    for (unsigned i = 0; i < rounds; i++) {
        lcore_pass(s);
        lcore[i] = s->lane[0].ns;
        checked += check(s);
        prepare(s, s->pass);
        loop[i] = time_loop(s);
        cool(s);
        keep_warm(&s->lane[0]);
        macswap[i] = time_macswap(&s->lane[0]);
        vs_bound[i] = (macswap[i] + loop[i]) / lcore[i];
    }
    printf("{\"frame\": %u, \"rounds\": %u, \"checked\": %u, \"kernels\": \"%s\", \"lcore_ns\": %.1f, "
           "\"macswap_ns\": %.1f, \"loop_ns\": %.1f, \"vs_bound\": %.4f, ",
           frame, rounds, checked, s->jobs.kernels->name, median(lcore, rounds), median(macswap, rounds),
           median(loop, rounds), median(vs_bound, rounds));
    print_counts(s);
}

/* Frames of both lanes in a ns. */
static double rate(const struct scene *s)
{
    return 1 / s->lane[0].ns + 1 / s->lane[1].ns;
}

static void measure_two(struct scene *s, unsigned frame, unsigned rounds)
{
    static double alone[ROUNDS_MOST], together[ROUNDS_MOST], vs_one[ROUNDS_MOST];
    unsigned checked = 0;

    for (unsigned i = 0; i < rounds; i++) {
        prepare(s, s->pass++);
        run_lanes(s, 1);
        run_lanes(s, 2);
        checked += check(s);
        alone[i] = 2 / rate(s);
        lcore_pass(s);
        checked += check(s);
        together[i] = 2 / rate(s);
        vs_one[i] = 2 * alone[i] / together[i];
    }
    printf("{\"frame\": %u, \"rounds\": %u, \"checked\": %u, \"kernels\": \"%s\", \"alone_ns\": %.1f, "
           "\"together_ns\": %.1f, \"vs_one\": %.4f}\n",
           frame, rounds, checked, s->jobs.kernels->name, median(alone, rounds), median(together, rounds),
           median(vs_one, rounds));
}

static void compare(struct scene *roce, struct scene *udp, unsigned rounds)
{
    static double roce_ns[ROUNDS_MOST], udp_ns[ROUNDS_MOST], vs_udp[ROUNDS_MOST];
    unsigned checked = 0;

    for (unsigned i = 0; i < rounds; i++) {
        lcore_pass(roce);
        roce_ns[i] = roce->lane[0].ns;
        checked += check(roce);
        lcore_pass(udp);
        udp_ns[i] = udp->lane[0].ns;
        checked += check(udp);
        vs_udp[i] = udp_ns[i] / roce_ns[i];
    }
    printf("{\"rounds\": %u, \"checked\": %u, \"kernels\": \"%s\", \"payload\": %u, \"roce_ns\": %.1f, "
           "\"udp_ns\": %.1f, \"vs_udp\": %.4f}\n",
           rounds, checked, roce->jobs.kernels->name, roce->frames.chunk_bytes, median(roce_ns, rounds),
           median(udp_ns, rounds), median(vs_udp, rounds));
}

static void usage(void)
{
    fprintf(stderr, "usage: bench-lcore FRAME|roce cold|warm device|switch [ROUNDS] [-- EAL OPTIONS]\n");
    exit(2);
}

/* One of two words. */
static bool is_first(const char *word, const char *first, const char *second)
{
    if (strcmp(word, first) != 0 && strcmp(word, second) != 0)
        usage();
    return strcmp(word, first) == 0;
}

/* As the command line has it, with so many bytes of elements in a frame. */
static void describe(struct scene *s, const struct packets *packets, unsigned chunk_bytes, char *const argv[])
{
    s->cold = is_first(argv[2], "cold", "warm");
    s->slots = s->cold ? SLOTS_COLD : SLOTS_WARM;
    s->lanes = 1;
    s->frames = (struct lcore_frames){.packets = packets,
                                      .chunk_bytes = chunk_bytes,
                                      .slots = s->slots,
                                      .compared = is_first(argv[3], "device", "switch")};
    s->frames.bytes = FRAME_HEADER_BYTES + packets->head_bytes + chunk_bytes + packets->tail_bytes;
}

/* So many lcores work at it. Before it is opened. */
static void widen(struct scene *s, unsigned lanes)
{
    s->lanes = lanes;
    s->frames.slots = lanes * s->slots;
}

static void warm_up(struct scene *s)
{
    for (unsigned i = 0; i < 2 * WORKERS; i++)
        lcore_pass(s);
}

/* A chunk's elements of a frame of so many bytes. */
static unsigned room_for_floats(unsigned frame)
{
    return (frame - FCS - FRAME_HEADER_BYTES - packets_float32.head_bytes) / sizeof(float) * sizeof(float);
}

static void start_eal(int argc, char *argv[])
{
    static char *ordinary[] = {"bench-lcore", "--no-huge",         "--no-shconf", "--no-telemetry",
                               "--no-pci",    "--log-level=error", "-m",          "512"};

    if ((argc > 0 ? rte_eal_init(argc, argv) : rte_eal_init(RTE_DIM(ordinary), ordinary)) < 0)
        fail("EAL does not start");
}

int main(int argc, char **argv)
{
    static struct scene s, peer; /* large */
    int given = 0;
    unsigned rounds = ROUNDS, frame;

    while (given < argc && strcmp(argv[given], "--") != 0)
        given++;
    if (given < 4 || given > 5)
        usage();
    const bool of_roce = strcmp(argv[1], "roce") == 0;
    frame = (unsigned)strtoul(argv[1], NULL, 10);
    if (given == 5)
        rounds = (unsigned)strtoul(argv[4], NULL, 10);
    if (rounds == 0 || rounds > ROUNDS_MOST || (!of_roce && (frame < 64 || frame > 9018)))
        usage();
    describe(&s, of_roce ? &packets_roce : &packets_float32,
             of_roce ? RCE_MAX_PACKET_BYTES : room_for_floats(frame), argv);
    describe(&peer, &packets_int32, RCE_MAX_PACKET_BYTES, argv);
    start_eal(argc - given, argv + given);
    if (given < argc && rte_lcore_count() == LANES_MOST && !of_roce)
        widen(&s, LANES_MOST);
    open_scene(&s);
    warm_up(&s);
    if (of_roce) {
        open_scene(&peer);
        warm_up(&peer);
        compare(&s, &peer, rounds);
        close_scene(&peer);
    } else {
        (s.lanes == 1 ? measure : measure_two)(&s, frame, rounds);
    }
    close_scene(&s);
    return 0;
}
