/* swagg-source: plays the workers of a job, or sends their frames through a forwarder, and measures. */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_eal.h>

#include "command_line.h"
#include "source/play.h"
#include "source/ports.h"
#include "standard_streams.h"

static volatile bool stop;

static void on_signal(int number)
{
    (void)number;
    stop = true;
}

static double seconds_of(const struct play *p)
{
    return (double)p->count.cycles / (double)rte_get_tsc_hz();
}

static double idle_of(const struct play *p)
{
    return p->count.cycles == 0 ? 0 : (double)p->count.idle_cycles / (double)p->count.cycles;
}

/* Open loop. */
static double offered_of(const struct play *p)
{
    return p->options->rate > 0 ? p->options->rate : (double)p->count.sent / seconds_of(p);
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
    printf("  sent %.0f/s, answers %.0f/s, %.3f Gbit/s of elements each way\n", (double)c->sent / seconds,
           (double)c->answers / seconds,
           (double)c->answers * (double)p->frames.body_bytes * 8 / seconds / 1e9);
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
        fprintf(f, "%s%.1f", j == 0 ? "" : ", ", (double)p[j].count.answers / seconds_of(&p[j]));
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
            p->frames.frame_bytes, seconds, (double)c->sent / seconds, (double)c->answers / seconds,
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
        ports_await_end(&stop);
    return failed ? EXIT_BAD : EXIT_GOOD;
}

static int play(const struct source_options *o)
{
    static struct play p[SOURCE_JOBS_MAX]; /* large */
    int ports, rc = EXIT_USAGE;

    ports = ports_open(o->plan.elements * agg_code_bytes(plan_code(&o->plan)) + 128, &stop);
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
    if (argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "--version") == 0))
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
