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
 * the rounds'. (By RDMA, messages have 16 packets, and their ICRCs are compared by the switch in any case.)
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
#include "kernels_chosen.h"
#include "lcore/lcore.h"
#include "lcore_packets.h"
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
    VALUES = 8, /* the elements repeat */
};

static_assert((int)SLOTS_COLD <= (int)PREPARED_MOST, "a pass has a frame a slot");

static const struct jobs_identity us = {.mac = {{2, 0, 0, 0, 0, 0xfe}}, .ip = RTE_BE32(0x0A0000FE)};

struct scene {
    const struct packets *packets;
    unsigned frame_bytes, chunk_bytes, slots; /* of the longest frame, without the FCS; of elements */
    bool cold, compares;
    uint8_t number;   /* the job's */
    uint32_t pass;    /* of the workers */
    uint8_t *payload; /* of a frame */
    float *sums;      /* of the bare loop, a chunk a frame, in whole lines */
    size_t sum_floats;
    struct frame_header header[WORKERS];
    struct rte_mempool *mbufs;
    struct port port;
    struct prepared device;
    struct jobs jobs;
    struct classifier classifier;
    struct shards shards;
    struct sighting claim;
    struct loops loops;
    struct inbox inbox;
    void *bridge;
    bool stop;
    struct lcore lcore;
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

static struct jobs_member member(const struct scene *s, unsigned rank)
{
    return (struct jobs_member){.mac = {{2, 0, 0, 0, 1, (uint8_t)rank}},
                                .ip = rte_cpu_to_be_32(0x0A000001 + rank),
                                .udp_port = rte_cpu_to_be_16(s->packets->from_port)};
}

static void prepare_headers(struct scene *s)
{
    const struct frame_end to = {
        .mac = us.mac, .ip = us.ip, .port = rte_cpu_to_be_16(s->packets->protocol->udp_ports.first)};

    for (unsigned rank = 0; rank < WORKERS; rank++) {
        const struct jobs_member m = member(s, rank);
        const struct frame_end from = {.mac = m.mac, .ip = m.ip, .port = m.udp_port};

        frame_header_init(&s->header[rank], &from, &to);
        s->header[rank].without_udp_sum = s->packets->seals;
    }
}

static uint32_t element(unsigned rank, unsigned i)
{
    return (rank + 1) * (i % VALUES + 1);
}

static void write_frame(struct scene *s, struct rte_mbuf *m, unsigned rank, uint32_t tag)
{
    const struct packets_chunk chunk = {
        .rank = rank, .tag = tag, .slots = s->slots, .element_bytes = s->chunk_bytes, .job = s->number};
    const size_t head = s->packets->begin(s->payload, &chunk);
    struct frame_payload body;
    struct frame_udp *f;

    for (unsigned i = 0; i < s->chunk_bytes / sizeof(uint32_t); i++) {
        const uint32_t value = s->packets->form(element(rank, i));

        memcpy(s->payload + head + i * sizeof(value), &value, sizeof(value));
    }
    body =
        frame_payload(s->payload, head + s->chunk_bytes + s->packets->tail_bytes, s->jobs.kernels->ones_sum);
    f = (struct frame_udp *)(void *)rte_pktmbuf_append(m, (uint16_t)(FRAME_HEADER_BYTES + body.bytes));
    frame_write(f, &s->header[rank], rte_cpu_to_be_16(s->packets->from_port), &body);
    if (s->packets->seals)
        roce_seal((const uint8_t *)&f->ip, f->payload, body.bytes);
    if (s->compares)
        m->ol_flags |= RTE_MBUF_F_RX_IP_CKSUM_GOOD | RTE_MBUF_F_RX_L4_CKSUM_GOOD;
}

/* Fills the device with the workers' next frames, or those of their last pass once more. */
static void prepare(struct scene *s, uint32_t pass)
{
    const uint32_t behind = s->slots / WORKERS; /* chunks; as many steps are in a pass */
    const unsigned begun = RTE_MIN(pass + 1, (uint32_t)WORKERS);
    struct rte_mbuf **m = prepared_refill(&s->device, behind * begun);

    if (m == NULL)
        fail("too few buffers");
    for (uint32_t step = 0; step < behind; step++)
        for (unsigned rank = 0; rank < begun; rank++)
            write_frame(s, *m++, rank, (pass - rank) * behind + step);
}

/* Whether it is the sum that a worker is to get, whichever. Its payload lies in the second segment, or behind
 * the headers. */
static bool is_right(const struct scene *s, const struct rte_mbuf *m)
{
    const uint8_t *payload = m->nb_segs == 2
                                 ? rte_pktmbuf_mtod(m->next, const uint8_t *)
                                 : rte_pktmbuf_mtod_offset(m, const uint8_t *, FRAME_HEADER_BYTES);
    const uint8_t *elements = s->packets->elements(payload, m->pkt_len - FRAME_HEADER_BYTES, s->chunk_bytes);

    if (elements == NULL)
        return false;
    for (unsigned i = 0; i < s->chunk_bytes / sizeof(uint32_t); i++) {
        uint32_t sum = 0, value;

        for (unsigned rank = 0; rank < WORKERS; rank++)
            sum += element(rank, i);
        memcpy(&value, elements + i * sizeof(value), sizeof(value));
        if (value != s->packets->form(sum))
            return false;
    }
    return true;
}

/* Returns how many answers it has compared. */
static unsigned check(const struct scene *s)
{
    const unsigned n = RTE_MIN(s->slots, (unsigned)PREPARED_SENT); /* sent in the last pass */

    for (unsigned i = 1; i <= n; i++)
        if (!is_right(s, s->device.sent[(s->device.sends - i) & (PREPARED_SENT - 1)]))
            fail("a wrong sum");
    return n;
}

/* --- what is cold --- */

static void put_out(const void *memory, size_t bytes)
{
    for (size_t at = 0; at < bytes; at += RTE_CACHE_LINE_SIZE) {
        const char *line = (const char *)memory + at;
#if defined(__x86_64__)
        __builtin_ia32_clflush(line);
#else
        __asm__ volatile("dc civac, %0" : : "r"(line) : "memory");
#endif
    }
}

static void put_out_buffers(struct rte_mempool *mbufs, void *unused, struct rte_mempool_memhdr *memory,
                            unsigned index)
{
    (void)mbufs;
    (void)unused;
    (void)index;
    put_out(memory->addr, memory->len);
}

/* Headers of buffers, and of the frames in them, are in the caches. */
static void bring_in(struct rte_mbuf *const m[], unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        for (const struct rte_mbuf *part = m[i]; part != NULL; part = part->next)
            (void)*rte_pktmbuf_mtod(part, const volatile uint8_t *);
}

/* What the lcore has had in its hands just before stays with it: what was sent, and the buffers that are the
 * next to be given out. */
static void cool(struct scene *s)
{
    const struct switch_job *job = jobs_find(&s->jobs, s->packets->protocol->id, s->number);
    struct rte_mbuf *next[CACHED_BUFFERS];

    if (!s->cold)
        return;
    rte_mempool_mem_iter(s->mbufs, put_out_buffers, NULL);
    put_out(job->common.pool, job->bytes);
    put_out(s->sums, s->slots * s->sum_floats * sizeof(float));
    rte_mb();
    bring_in(s->device.sent, (unsigned)RTE_MIN(s->device.sends, (uint64_t)PREPARED_SENT));
    if (rte_pktmbuf_alloc_bulk(s->mbufs, next, CACHED_BUFFERS) < 0)
        fail("too few buffers");
    bring_in(next, CACHED_BUFFERS);
    rte_pktmbuf_free_bulk(next, CACHED_BUFFERS);
}

/* --- what takes turns; each returns ns a frame --- */

static double own_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

NOT_INLINED static double time_lcore(struct scene *s)
{
    const double start = own_ns();

    while (lcore_round(&s->lcore, rte_rdtsc()) > 0) {
    }
    return (own_ns() - start) / s->device.filled;
}

/* As testpmd does: the addresses in place, and what the frame asks of the device that sends it. */
NOT_INLINED static double time_macswap(struct scene *s)
{
    const struct port *port = &s->port;
    struct rte_mbuf *frames[RECEIVE_BURST];
    const double start = own_ns();
    uint16_t n;

    while ((n = port->device->receive(port, 0, frames, RECEIVE_BURST)) > 0) {
        for (unsigned i = 0; i < n; i++)
            rte_prefetch0(rte_pktmbuf_mtod(frames[i], void *));
        for (unsigned i = 0; i < n; i++) {
            struct net_ethernet *eth = rte_pktmbuf_mtod(frames[i], struct net_ethernet *);
            const struct net_mac to = eth->dst_addr;

            eth->dst_addr = eth->src_addr;
            eth->src_addr = to;
            frames[i]->ol_flags = 0;
            frames[i]->tx_offload = 0;
        }
        port->device->send(port, 0, frames, n);
    }
    return (own_ns() - start) / s->device.filled;
}

__attribute__((target_clones("avx512f", "avx2", "default"))) static void add(float *sum, const float *payload,
                                                                             size_t floats)
{
    for (size_t i = 0; i < floats; i++)
        sum[i] += payload[i];
}

NOT_INLINED static double time_loop(struct scene *s)
{
    static const float *at[PREPARED_MOST];
    const unsigned n = s->device.filled;
    double start;

    for (unsigned i = 0; i < n; i++)
        at[i] = rte_pktmbuf_mtod_offset(s->device.ready[i], const float *,
                                        FRAME_HEADER_BYTES + s->packets->head_bytes);
    cool(s);
    start = own_ns();
    for (unsigned i = 0; i < n; i++)
        add(s->sums + i * s->sum_floats, at[i], s->chunk_bytes / sizeof(float));
    return (own_ns() - start) / n;
}

/* --- the switch --- */

static void open_job(struct scene *s)
{
    static struct jobs_plan plan; /* large */
    char text[AGG_TEXT_MAX];

    s->jobs = (struct jobs){.rcu = s->lcore.rcu,
                            .kernels = kernels_or_exit(),
                            .delays = true, /* as the daemon does by default */
                            .bytes_max = SIZE_MAX,
                            .frames_max = 4 * s->slots};
    plan = (struct jobs_plan){
        .protocol = s->packets->protocol, .as_it_is = true, .size = WORKERS, .tenant = -1, .name = "bench"};
    s->packets->plan(&plan, s->slots, s->chunk_bytes);
    for (unsigned rank = 0; rank < WORKERS; rank++)
        plan.member[rank] = member(s, rank);
    if (jobs_open(&s->jobs, &plan, &us, &s->number, text) < 0)
        fail(text);
}

static void classify(struct scene *s)
{
    static struct classifier_table t; /* large */
    const struct agg_protocol *protocol = s->packets->protocol;
    const struct classifier_rule data = {
        .taker = CLASSIFIER_PROTOCOL, .protocol = protocol->id, .key = protocol->shard_key};

    t = (struct classifier_table){.mac = us.mac, .ip = us.ip};
    s->classifier.rcu = s->lcore.rcu;
    if (!classifier_add_own(&t, protocol->udp_ports.first, protocol->udp_ports.last, &data) ||
        classifier_publish(&s->classifier, &t) < 0)
        fail("no table of rules");
}

/* As datapath_lcores.c does it. */
static void wire(struct scene *s)
{
    const struct agg_protocol *protocol = s->packets->protocol;
    struct lcore *lc = &s->lcore;

    s->shards = (struct shards){.n = 1, .owned = {1}};
    s->loops = (struct loops){.number = {101, 102, 103}, .window = rte_get_tsc_hz()};
    lc->pace = (struct lcore_pace){.cycles_per_ms = rte_get_tsc_hz() / 1000, .stall = UINT64_MAX};
    lc->send = (struct send){.port = &s->port,
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
    lc->engine = (struct engine){.shards = &s->shards,
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
    lc->receive = (struct receive){.port = &s->port,
                                   .mbufs = s->mbufs,
                                   .classifier = &s->classifier,
                                   .bridge = s->bridge,
                                   .claim = &s->claim,
                                   .loops = &s->loops,
                                   .host = &lc->host,
                                   .engine = &lc->engine,
                                   .to_control = &s->inbox,
                                   .send = &lc->send,
                                   .counters = &lc->counters,
                                   .queues = 1};
    ctl_intake_rules_init(&s->inbox.rules, WORKERS, 1);
    ctl_intake_init(&lc->receive.intake, &s->inbox.rules);
}

static void open_scene(struct scene *s)
{
    const unsigned room = RTE_PKTMBUF_HEADROOM + RTE_ALIGN_CEIL(s->frame_bytes, 1024u);
    const size_t rcu = rte_rcu_qsbr_get_memsize(1);

    s->lcore.rcu = take(rcu);
    s->bridge = take(bridge_footprint(STATIONS));
    bridge_init(s->bridge, STATIONS, 1);
    s->payload = take(s->frame_bytes);
    s->sum_floats = RTE_ALIGN_CEIL(s->chunk_bytes, RTE_CACHE_LINE_SIZE) / sizeof(float);
    s->sums = take(s->slots * s->sum_floats * sizeof(float));
    s->mbufs = rte_pktmbuf_pool_create(s->packets->name, 4 * s->slots + SPARE_BUFFERS + PREPARED_SENT,
                                       CACHED_BUFFERS, 0, (uint16_t)room, SOCKET_ID_ANY);
    if (s->mbufs == NULL || rte_rcu_qsbr_init(s->lcore.rcu, 1) != 0)
        fail("no memory for buffers");
    prepared_open(&s->port, &s->device, s->mbufs, (uint16_t)(s->frame_bytes + sizeof(struct net_tag)),
                  s->compares);
    open_job(s);
    prepare_headers(s);
    classify(s);
    wire(s);
}

static void close_scene(struct scene *s)
{
    jobs_free(&s->jobs);
    classifier_free(&s->classifier);
    prepared_close(&s->device);
    if (rte_mempool_in_use_count(s->mbufs) != 0)
        fail("buffers are lost");
}

/* --- the measurement --- */

static double lcore_pass(struct scene *s)
{
    double ns;

    prepare(s, s->pass++);
    cool(s);
    ns = time_lcore(s);
    if (s->lcore.counters.event[EVENT_GRADIENTS] == 0 || s->device.received != s->device.filled)
        fail("the lcore has not handled the frames");
    return ns;
}

/* frame: as it was asked for; its elements are whole ones, so it may be shorter. */
static void measure(struct scene *s, unsigned frame, unsigned rounds)
{
    static double lcore[ROUNDS_MOST], macswap[ROUNDS_MOST], loop[ROUNDS_MOST], vs_bound[ROUNDS_MOST];
    unsigned checked = 0;

    for (unsigned i = 0; i < 2 * WORKERS; i++)
        lcore_pass(s);
    for (unsigned i = 0; i < rounds; i++) {
        lcore[i] = lcore_pass(s);
        checked += check(s);
        prepare(s, s->pass);
        loop[i] = time_loop(s);
        cool(s);
        macswap[i] = time_macswap(s);
        vs_bound[i] = (macswap[i] + loop[i]) / lcore[i];
    }
    printf("{\"frame\": %u, \"rounds\": %u, \"checked\": %u, \"kernels\": \"%s\", \"lcore_ns\": %.1f, "
           "\"macswap_ns\": %.1f, \"loop_ns\": %.1f, \"vs_bound\": %.4f}\n",
           frame, rounds, checked, s->jobs.kernels->name, median(lcore, rounds), median(macswap, rounds),
           median(loop, rounds), median(vs_bound, rounds));
}

static void compare(struct scene *roce, struct scene *udp, unsigned rounds)
{
    static double roce_ns[ROUNDS_MOST], udp_ns[ROUNDS_MOST], vs_udp[ROUNDS_MOST];
    unsigned checked = 0;

    for (unsigned i = 0; i < 2 * WORKERS; i++) {
        lcore_pass(roce);
        lcore_pass(udp);
    }
    for (unsigned i = 0; i < rounds; i++) {
        roce_ns[i] = lcore_pass(roce);
        checked += check(roce);
        udp_ns[i] = lcore_pass(udp);
        checked += check(udp);
        vs_udp[i] = udp_ns[i] / roce_ns[i];
    }
    printf("{\"rounds\": %u, \"checked\": %u, \"kernels\": \"%s\", \"payload\": %u, \"roce_ns\": %.1f, "
           "\"udp_ns\": %.1f, \"vs_udp\": %.4f}\n",
           rounds, checked, roce->jobs.kernels->name, roce->chunk_bytes, median(roce_ns, rounds),
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
    s->packets = packets;
    s->chunk_bytes = chunk_bytes;
    s->cold = is_first(argv[2], "cold", "warm");
    s->compares = is_first(argv[3], "device", "switch");
    s->slots = s->cold ? SLOTS_COLD : SLOTS_WARM;
    s->frame_bytes = FRAME_HEADER_BYTES + packets->head_bytes + chunk_bytes + packets->tail_bytes;
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
    open_scene(&s);
    if (of_roce) {
        open_scene(&peer);
        compare(&s, &peer, rounds);
        close_scene(&peer);
    } else {
        measure(&s, frame, rounds);
    }
    close_scene(&s);
    return 0;
}
