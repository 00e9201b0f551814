/* swagg-source: plays the workers of a job, or sends their frames through a forwarder, and measures. */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <rte_alarm.h>
#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_memory.h>

#include "command_line.h"
#include "source/play.h"
#include "standard_streams.h"

static volatile bool stop;

static void on_signal(int number)
{
    (void)number;
    stop = true;
}

/* --- ports: all that the EAL has --- */

enum {
    BUFFERS = 4096,
    /* for a full ring, if the device takes buffers in advance, and for frames in flight */
    BUFFERS_A_PORT = 2048,
    BUFFER_STEP = 2048, /* a memif copies in one piece if our buffers are no smaller than its own */
    RING = 1024,
    LINK_SECONDS = 30,
};

static int start(uint16_t id, struct rte_mempool *pool)
{
    const struct rte_eth_conf conf = {0};
    uint16_t rx = RING, tx = RING;
    int rc = rte_eth_dev_configure(id, 1, 1, &conf);

    if (rc == 0)
        rc = rte_eth_dev_adjust_nb_rx_tx_desc(id, &rx, &tx);
    if (rc == 0)
        rc = rte_eth_rx_queue_setup(id, 0, rx, SOCKET_ID_ANY, NULL, pool);
    if (rc == 0)
        rc = rte_eth_tx_queue_setup(id, 0, tx, SOCKET_ID_ANY, NULL);
    if (rc == 0)
        rc = rte_eth_dev_start(id);
    if (rc == 0)
        rc = rte_eth_promiscuous_enable(id);
    if (rc == -ENOTSUP) /* a memif has no promiscuous mode: it receives everything */
        rc = 0;
    if (rc < 0)
        complain("port %u does not start: %s", id, rte_strerror(-rc));
    return rc;
}

static bool link_becomes(uint16_t id, unsigned status)
{
    struct rte_eth_link link = {0};

    for (unsigned i = 0; i < LINK_SECONDS * 100; i++) {
        if (rte_eth_link_get_nowait(id, &link) == 0 && link.link_status == status)
            return true;
        if (stop)
            return false;
        rte_delay_us_sleep(10000);
    }
    return false;
}

static int wait_for_link(uint16_t id)
{
    if (link_becomes(id, RTE_ETH_LINK_UP))
        return 0;
    if (!stop)
        complain("port %u: no link: start what is to be at its other end", id);
    return -ENOLINK;
}

static int take_file(const struct rte_memseg_list *list, const struct rte_memseg *segment, void *fd)
{
    (void)list;
    *(int *)fd = rte_memseg_get_fd_thread_unsafe(segment);
    return *(int *)fd >= 0;
}

/* The file of DPDK's memory; negative: there is none. There is one with --single-file-segments, which
 * zero-copy memifs need. */
static int memory_file(void)
{
    int fd = -1;

    rte_memseg_walk(take_file, &fd);
    return fd;
}

/* A zero-copy memif of DPDK 22.11 shares the memory with its peer, and then closes the EAL's own file, which
 * the next port's needs, too. */
static int open_port(uint16_t id, struct rte_mempool *pool)
{
    int fd = memory_file(), copy = fd < 0 ? -1 : dup(fd), rc = start(id, pool);

    if (rc == 0)
        rc = wait_for_link(id);
    if (copy >= 0) {
        dup2(copy, fd);
        close(copy);
    }
    return rc;
}

static void ports_close(void)
{
    uint16_t id;

    RTE_ETH_FOREACH_DEV(id)
    {
        rte_eth_dev_stop(id);
        rte_eth_dev_close(id);
    }
}

/* Starts them, with buffers for frames of so many bytes, and waits for their links. Returns the number of
 * ports, or -errno after reporting why. */
static int ports_open(size_t frame_bytes)
{
    const uint16_t ports = rte_eth_dev_count_avail();
    struct rte_mempool *pool;
    int rc = 0;

    if (ports == 0) {
        complain("there is no port: give the EAL one, with --vdev, say");
        return -ENODEV;
    }
    pool = rte_pktmbuf_pool_create(
        "received", BUFFERS + ports * BUFFERS_A_PORT, 256, 0,
        (uint16_t)(RTE_PKTMBUF_HEADROOM + RTE_ALIGN_CEIL(frame_bytes, BUFFER_STEP)), SOCKET_ID_ANY);
    if (pool == NULL) {
        complain("no memory for buffers: give the EAL more (-m)");
        return -ENOMEM;
    }
    for (uint16_t id = 0; id < ports && rc == 0; id++)
        rc = open_port(id, pool);
    if (rc < 0)
        ports_close();
    return rc < 0 ? rc : ports;
}

static void on_alarm(void *rang)
{
    atomic_store((atomic_bool *)rang, true);
}

/* A memif whose peer leaves says that its link is down, and then the EAL's interrupt thread still frees what
 * it shared with it. Who closes the port meanwhile frees it, too. Alarms come in that thread, after what it
 * does. */
static void let_interrupts_end(void)
{
    atomic_bool rang = false;

    if (rte_eal_alarm_set(1, on_alarm, &rang) == 0)
        while (!atomic_load(&rang))
            rte_delay_us_sleep(1000);
}

/* Waits until all links are down: the other ends have gone. */
static void ports_await_end(void)
{
    uint16_t id;

    RTE_ETH_FOREACH_DEV(id)
    link_becomes(id, RTE_ETH_LINK_DOWN);
    let_interrupts_end();
}

/* --- playing --- */

static double seconds_of(const struct play *p)
{
    return (double)p->count.cycles / (double)rte_get_tsc_hz();
}

/* Who is stopped before he measures has no rates. */
static double a_second(uint64_t count, double seconds)
{
    return seconds > 0 ? (double)count / seconds : 0;
}

static double idle_of(const struct play *p)
{
    return p->count.cycles == 0 ? 0 : (double)p->count.idle_cycles / (double)p->count.cycles;
}

/* Open loop. */
static double offered_of(const struct play *p)
{
    return p->options->rate > 0 ? p->options->rate : a_second(p->count.sent, seconds_of(p));
}

/* An answer may come twice, or to a chunk that the warm-up began. */
static uint64_t lost_of(const struct play *p)
{
    return p->count.sent > p->count.answers ? p->count.sent - p->count.answers : 0;
}

static void print_report(const struct play *p)
{
    const struct source_options *o = p->options;
    const struct play_counts *c = &p->count;
    double seconds = seconds_of(p);

    printf("%s: %u workers, %u slots, %u elements, frames of %zu bytes (without check sequence), %.3f s\n",
           source_mode_name(o->mode), o->plan.workers, o->plan.slots, o->plan.elements, p->frames.frame_bytes,
           seconds);
    printf("  sent %.0f/s, answers %.0f/s, %.3f Gbit/s of elements each way\n", a_second(c->sent, seconds),
           a_second(c->answers, seconds),
           a_second(c->answers, seconds) * (double)p->frames.body_bytes * 8 / 1e9);
    printf("  %" PRIu64 " answers, %" PRIu64 " checked and right, %" PRIu64 " sent again, %" PRIu64
           " unexpected\n",
           c->answers, c->checked, c->resent, c->unexpected);
    if (o->open_loop)
        printf("  open loop: offered %.0f/s, %" PRIu64 " of %" PRIu64 " frames lost (%.4f%%)\n",
               offered_of(p), lost_of(p), c->sent,
               c->sent == 0 ? 0 : 100 * (double)lost_of(p) / (double)c->sent);
    printf("  idle %.1f%% of the time, %.1f%% of the rounds; %.1f frames in a round with work\n",
           100 * idle_of(p), c->rounds == 0 ? 0 : 100 * (double)c->idle_rounds / (double)c->rounds,
           c->rounds == c->idle_rounds ? 0 : (double)c->answers / (double)(c->rounds - c->idle_rounds));
}

/* Of all jobs together. */
static struct play_counts sum_of(const struct play p[], unsigned n)
{
    struct play_counts sum = {0};

    for (unsigned j = 0; j < n; j++) {
        sum.sent += p[j].count.sent;
        sum.answers += p[j].count.answers;
        sum.checked += p[j].count.checked;
        sum.resent += p[j].count.resent;
        sum.unexpected += p[j].count.unexpected;
    }
    return sum;
}

static void write_by_job(FILE *f, const struct play p[], unsigned n)
{
    fprintf(f, ", \"by_job_pps\": [");
    for (unsigned j = 0; j < n; j++)
        fprintf(f, "%s%.1f", j == 0 ? "" : ", ", a_second(p[j].count.answers, seconds_of(&p[j])));
    fprintf(f, "]");
}

static int write_json(const struct play p[], unsigned n)
{
    const struct source_options *o = p->options;
    const struct play_counts sum = sum_of(p, n), *c = &sum;
    double seconds = seconds_of(p);
    FILE *f = fopen(o->json, "w");
    bool failed;

    if (f == NULL) {
        complain("%s: %s", o->json, strerror(errno));
        return -errno;
    }
    fprintf(f,
            "{\"mode\": \"%s\", \"workers\": %u, \"slots\": %u, \"elements\": %u, \"frame_bytes\": %zu, "
            "\"seconds\": %.6f, "
            "\"sent_pps\": %.1f, \"answers_pps\": %.1f, \"answers\": %" PRIu64 ", \"checked\": %" PRIu64
            ", \"resent\": %" PRIu64 ", \"unexpected\": %" PRIu64 ", \"idle\": %.4f",
            source_mode_name(o->mode), o->plan.workers, o->plan.slots, o->plan.elements,
            p->frames.frame_bytes, seconds, a_second(c->sent, seconds), a_second(c->answers, seconds),
            c->answers, c->checked, c->resent, c->unexpected, idle_of(p));
    if (o->open_loop)
        fprintf(f, ", \"offered_pps\": %.1f, \"lost\": %" PRIu64, offered_of(p), lost_of(p));
    write_by_job(f, p, n);
    fprintf(f, "}\n");
    failed = ferror(f);
    if (fclose(f) != 0 || failed) {
        complain("%s: cannot be written", o->json);
        return -EIO;
    }
    return 0;
}

/* The jobs' plans: each has the next number, and workers that follow those of the one before. */
static void plan_jobs(const struct source_options *o, struct source_options job[])
{
    for (unsigned j = 0; j < o->jobs; j++) {
        job[j] = j == 0 ? *o : job[j - 1];
        if (j == 0)
            continue;
        job[j].plan.job++;
        job[j].plan.worker = plan_worker(&job[j - 1].plan, o->plan.workers);
    }
}

/* Exit code. */
static int play_on(const struct source_options *o, struct play p[], unsigned ports)
{
    static struct source_options job[SOURCE_JOBS_MAX];
    const unsigned each = ports / o->jobs;
    bool failed = false;

    plan_jobs(o, job);
    for (unsigned j = 0; j < o->jobs; j++)
        if (play_init(&p[j], &job[j], j * each, each) < 0) {
            complain("no memory for the frames: give the EAL more (-m)");
            return EXIT_BAD;
        }
    play_run(p, o->jobs, &stop);
    for (unsigned j = 0; j < o->jobs; j++) {
        print_report(&p[j]);
        failed |= p[j].failed;
    }
    failed = failed || (o->json != NULL && write_json(p, o->jobs) < 0);
    fflush(stdout);
    if (o->stay)
        ports_await_end();
    return failed ? EXIT_BAD : EXIT_GOOD;
}

static int play(const struct source_options *o)
{
    static struct play p[SOURCE_JOBS_MAX]; /* large */
    int ports, rc = EXIT_USAGE;

    ports = ports_open(o->plan.elements * agg_code_bytes(plan_code(&o->plan)) + 128);
    if (ports < 0)
        return EXIT_BAD;
    if (o->mode == SOURCE_BRIDGE && ports != 2)
        complain("--mode bridge takes two ports, here are %d", ports);
    else if (ports % (int)o->jobs != 0)
        complain("%u jobs cannot share %d ports equally", o->jobs, ports);
    else
        rc = play_on(o, p, (unsigned)ports);
    ports_close();
    for (unsigned j = 0; j < o->jobs; j++)
        if (p[j].options != NULL)
            play_free(&p[j]);
    return rc;
}

int main(int argc, char *argv[])
{
    struct source_options o;
    int used, rc;

    standard_streams_begin();
    if (argc > 1 && (strncmp(argv[1], "--help", strlen("--help")) == 0 || strcmp(argv[1], "--version") == 0))
        return source_parse(&o, argc, argv);
    used = rte_eal_init(argc, argv);
    if (used < 0) {
        complain("the EAL does not start (above: why); swagg-source --help says how to call it");
        return EXIT_USAGE;
    }
    rc = source_parse(&o, argc - used, argv + used);
    if (rc == OPTIONS_READ) {
        signal(SIGINT, on_signal);
        signal(SIGTERM, on_signal);
        rc = play(&o);
    }
    rte_eal_cleanup();
    return rc;
}
