/* swagg-sim: plays the switch and its workers against a bad network, by the seed. docs/simulation.md. */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "atp_run.h"
#include "chip_protocol.h"
#include "curves/curves.h"
#include "exit_status.h"
#include "incast.h"
#include "options.h"
#include "runner.h"
#include "scale/scale.h"
#include "standard_streams.h"
#include "tat_table.h"
#include "version.h"

static _Noreturn void usage(FILE *out)
{
    fprintf(
        out,
        "usage: swagg-sim run [--seeds COUNT] [--first SEED] [--jobs N]   play COUNT scenarios (1000, or "
        "what\n"
        "                                                                 SWAGG_SIM_SEEDS says) on N CPUs\n"
        "       swagg-sim run --seed SEED [--trace]                       play one, and show what happens\n"
        "                     [--chip COMMAND]                            with the program for Tofino chips "
        "for the\n"
        "                                                                 switch (tests/p4/chip_pipe.py)\n"
        "       swagg-sim tat [--gbps LIST] [--loss LIST] [--workers N] [--mb N] [--slots N] [--chunk "
        "BYTES]\n"
        "                     [--delay-us N] [--queue-kb N] [--shards N] [--round-us N] [--paper-timer-us "
        "N]\n"
        "                     [--runs N] [--json FILE]\n"
        "                     time of an allreduce: our timer beside the paper's; losses in percent\n"
        "       swagg-sim atp [--seeds COUNT] [--first SEED]              play COUNT scenarios of ATP "
        "(2000)\n"
        "       swagg-sim atp --measure                                   how its jobs share a link, and "
        "aggregators\n"
        "       swagg-sim atp --curves [--json FILE] [--small] [--jobs N] what it does at 100 Gb/s with many "
        "workers\n"
        "                                                                 and jobs\n"
        "       swagg-sim incast [--runs N]                               calls of many ranks behind one "
        "server's link\n"
        "       swagg-sim scale [--costs FILE] [--out DIRECTORY] [--json FILE] [--small] [--jobs N]\n"
        "                     trees of switches with 240 and 3,600 workers; --out: DIRECTORY/scale.md, "
        "whose\n"
        "                     tables are replaced, and DIRECTORY/scale.svg\n"
        "       swagg-sim --help | --version\n");
    exit(out == stdout ? EXIT_GOOD : EXIT_USAGE);
}

static unsigned free_cpus(void)
{
    cpu_set_t set;

    return sched_getaffinity(0, sizeof(set), &set) == 0 ? (unsigned)CPU_COUNT(&set) : 1;
}

/* swagg-sim run */

static int play_one(uint64_t seed, bool chip, bool trace)
{
    struct world_result r = world_play(seed, chip, trace ? stdout : NULL);
    struct runner_tally t = {
        .scenarios = 1, .benign = r.benign, .paper = r.paper, .failed = r.failed, .sum = r};

    runner_print(&t, 0);
    if (r.failed)
        printf("seed %" PRIu64 ": %s\n", seed, r.text);
    return r.failed;
}

static int run(int argc, char **argv)
{
    static const struct option options[] = {
        {"seeds", required_argument, NULL, 'n'},
        {"first", required_argument, NULL, 'f'},
        {"jobs", required_argument, NULL, 'j'},
        {"seed", required_argument, NULL, 's'},
        {"chip", required_argument, NULL, 'c'},
        {"trace", no_argument, NULL, 't'},
        {NULL, 0, NULL, 0},
    };
    const char *seeds = getenv("SWAGG_SIM_SEEDS");
    struct runner_config cfg = {.first = 1, .count = 1000, .jobs = free_cpus()};
    bool one = false, trace = false;
    uint64_t seed = 0;

    if (seeds != NULL)
        cfg.count = number("SWAGG_SIM_SEEDS", seeds, 1, UINT32_MAX);
    for (int o; (o = getopt_long(argc, argv, "", options, NULL)) != -1;)
        switch (o) {
        case 'n':
            cfg.count = number("--seeds", optarg, 1, UINT32_MAX);
            break;
        case 'f':
            cfg.first = number("--first", optarg, 0, UINT64_MAX / 2);
            break;
        case 'j':
            cfg.jobs = (unsigned)number("--jobs", optarg, 1, 1024);
            break;
        case 'c':
            chip_protocol_set(optarg);
            cfg.chip = true;
            break;
        case 's':
            one = true;
            seed = number("--seed", optarg, 0, UINT64_MAX);
            break;
        case 't':
            trace = true;
            break;
        default:
            usage(stderr);
        }
    if (optind != argc || (trace && !one))
        usage(stderr);
    if (one)
        return play_one(seed, cfg.chip, trace);

    double start = seconds_now();
    struct runner_tally t = runner_run(&cfg);
    runner_print(&t, seconds_now() - start);
    return t.failed > 0 || t.crashed > 0;
}

/* swagg-sim tat */

/* "10,100": calls take for each item; at most max. Returns how many. */
static unsigned list(const char *option, char *text, unsigned max,
                     void (*take)(void *ctx, unsigned i, const char *item), void *ctx)
{
    unsigned n = 0;

    for (char *save, *item = strtok_r(text, ",", &save); item != NULL; item = strtok_r(NULL, ",", &save)) {
        if (n == max) {
            fprintf(stderr, "swagg-sim: %s: at most %u\n", option, max);
            exit(EXIT_USAGE);
        }
        take(ctx, n++, item);
    }
    return n;
}

static void take_speed(void *ctx, unsigned i, const char *item)
{
    struct tat_table_config *cfg = ctx;

    cfg->gbps[i] = (unsigned)number("--gbps", item, 1, 1000);
}

static void take_loss(void *ctx, unsigned i, const char *item)
{
    struct tat_table_config *cfg = ctx;
    char *end;
    double percent = strtod(item, &end);

    if (*end != '\0' || !(percent >= 0.0001 && percent <= 50)) {
        fprintf(stderr, "swagg-sim: --loss: '%s' is not a percentage from 0.0001 to 50\n", item);
        exit(EXIT_USAGE);
    }
    cfg->loss_ppm[i] = (uint32_t)(percent * 1e4 + 0.5);
}

static void tat_option(struct tat_table_config *cfg, int option, char *text)
{
    switch (option) {
    case 'g':
        cfg->speeds = list("--gbps", text, TAT_SPEEDS_MAX, take_speed, cfg);
        break;
    case 'l':
        cfg->losses = list("--loss", text, TAT_LOSSES_MAX, take_loss, cfg);
        break;
    case 'w':
        cfg->base.workers = (unsigned)number("--workers", text, 1, AGG_MAX_WORKERS);
        break;
    case 'm':
        cfg->base.tensor_bytes = number("--mb", text, 1, 10000) * 1000000;
        break;
    case 's':
        cfg->base.slots = (uint16_t)number("--slots", text, 2, SML_MAX_SLOTS);
        break;
    case 'c':
        cfg->base.chunk_bytes = (uint16_t)number("--chunk", text, 64, SML_MAX_CHUNK_BYTES);
        break;
    case 'd':
        cfg->base.delay_ns = number("--delay-us", text, 0, 1000000) * US;
        break;
    case 'q':
        cfg->base.queue_bytes = (uint32_t)number("--queue-kb", text, 1, 1 << 20) << 10;
        break;
    case 'S':
        cfg->base.shards = (unsigned)number("--shards", text, 1, TAT_SHARDS_MAX);
        break;
    case 'R':
        cfg->base.round_ns = number("--round-us", text, 0, 1000000) * US;
        break;
    case 'p':
        cfg->base.paper_timeout_ns = number("--paper-timer-us", text, 1, 10000000) * US;
        break;
    case 'r':
        cfg->runs = (unsigned)number("--runs", text, 1, 99);
        break;
    case 'j':
        cfg->json = fopen(text, "w");
        if (cfg->json == NULL) {
            fprintf(stderr, "swagg-sim: --json: cannot write %s: %s\n", text, strerror(errno));
            exit(EXIT_BAD);
        }
        break;
    default:
        usage(stderr);
    }
}

static int tat(int argc, char **argv)
{
    static const struct option options[] = {
        {"gbps", required_argument, NULL, 'g'},           {"loss", required_argument, NULL, 'l'},
        {"workers", required_argument, NULL, 'w'},        {"mb", required_argument, NULL, 'm'},
        {"slots", required_argument, NULL, 's'},          {"chunk", required_argument, NULL, 'c'},
        {"delay-us", required_argument, NULL, 'd'},       {"queue-kb", required_argument, NULL, 'q'},
        {"shards", required_argument, NULL, 'S'},         {"round-us", required_argument, NULL, 'R'},
        {"paper-timer-us", required_argument, NULL, 'p'}, {"runs", required_argument, NULL, 'r'},
        {"json", required_argument, NULL, 'j'},           {NULL, 0, NULL, 0},
    };
    struct tat_table_config cfg = {
        .speeds = 2,
        .gbps = {10, 100},
        .losses = 3,
        .loss_ppm = {100, 1000, 10000},
        .runs = 3,
        .base = {.workers = 4,
                 .tensor_bytes = 100000000,
                 .slots = 512,
                 .chunk_bytes = 1460,
                 .delay_ns = 5 * US,
                 .queue_bytes = 2 << 20,
                 .shards = 1,
                 .paper_timeout_ns = 1 * MS},
    };

    for (int o; (o = getopt_long(argc, argv, "", options, NULL)) != -1;)
        tat_option(&cfg, o, optarg);
    if (optind != argc)
        usage(stderr);
    bool exact = tat_table(&cfg);
    if (cfg.json != NULL && fclose(cfg.json) != 0) {
        fprintf(stderr, "swagg-sim: --json: %s\n", strerror(errno));
        return EXIT_BAD;
    }
    return exact ? EXIT_GOOD : EXIT_BAD;
}

/* swagg-sim atp */

static int atp(int argc, char **argv)
{
    static const struct option options[] = {
        {"seeds", required_argument, NULL, 'n'}, {"first", required_argument, NULL, 'f'},
        {"measure", no_argument, NULL, 'm'},     {"curves", no_argument, NULL, 'c'},
        {"small", no_argument, NULL, 's'},       {"json", required_argument, NULL, 'J'},
        {"jobs", required_argument, NULL, 'j'},  {NULL, 0, NULL, 0},
    };
    uint64_t first = 1, count = 2000;
    bool measure = false, curves = false;
    struct curves_command c = {.threads = free_cpus()};

    for (int o; (o = getopt_long(argc, argv, "", options, NULL)) != -1;)
        switch (o) {
        case 'n':
            count = number("--seeds", optarg, 1, UINT32_MAX);
            break;
        case 'f':
            first = number("--first", optarg, 0, UINT64_MAX / 2);
            break;
        case 'm':
            measure = true;
            break;
        case 'c':
            curves = true;
            break;
        case 's':
            c.small = true;
            break;
        case 'J':
            c.json = optarg;
            break;
        case 'j':
            c.threads = (unsigned)number("--jobs", optarg, 1, CURVES_THREADS_MAX);
            break;
        default:
            usage(stderr);
        }
    if (optind != argc || (c.small && !curves) || (c.json != NULL && !curves))
        usage(stderr);
    if (curves)
        return curves_command(&c);
    return (measure ? atp_measure_table() : atp_run(first, count)) ? EXIT_GOOD : EXIT_BAD;
}

/* swagg-sim incast */

static int incast(int argc, char **argv)
{
    static const struct option options[] = {{"runs", required_argument, NULL, 'r'}, {NULL, 0, NULL, 0}};
    unsigned runs = 2;

    for (int o; (o = getopt_long(argc, argv, "", options, NULL)) != -1;)
        if (o == 'r')
            runs = (unsigned)number("--runs", optarg, 1, 1000);
        else
            usage(stderr);
    if (optind != argc)
        usage(stderr);
    return incast_table(runs) ? EXIT_GOOD : EXIT_BAD;
}

/* swagg-sim scale */

static int scale(int argc, char **argv)
{
    static const struct option options[] = {
        {"costs", required_argument, NULL, 'c'}, {"out", required_argument, NULL, 'o'},
        {"json", required_argument, NULL, 'J'},  {"small", no_argument, NULL, 's'},
        {"jobs", required_argument, NULL, 'j'},  {NULL, 0, NULL, 0},
    };
    struct scale_command c = {.costs = "docs/results/data/dataplane.json", .jobs = free_cpus()};

    for (int o; (o = getopt_long(argc, argv, "", options, NULL)) != -1;)
        switch (o) {
        case 'c':
            c.costs = optarg;
            break;
        case 'o':
            c.out = optarg;
            break;
        case 'J':
            c.json = optarg;
            break;
        case 's':
            c.small = true;
            break;
        case 'j':
            c.jobs = (unsigned)number("--jobs", optarg, 1, SCALE_JOBS_MAX);
            break;
        default:
            usage(stderr);
        }
    if (optind != argc)
        usage(stderr);
    return scale_command(&c);
}

int main(int argc, char **argv)
{
    standard_streams_begin();
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
            usage(stdout);
    if (argc < 2)
        usage(stderr);
    if (strcmp(argv[1], "--version") == 0) {
        printf("swagg-sim %s\n", build_version);
        return EXIT_GOOD;
    }
    if (strcmp(argv[1], "run") == 0)
        return run(argc - 1, argv + 1);
    if (strcmp(argv[1], "tat") == 0)
        return tat(argc - 1, argv + 1);
    if (strcmp(argv[1], "atp") == 0)
        return atp(argc - 1, argv + 1);
    if (strcmp(argv[1], "incast") == 0)
        return incast(argc - 1, argv + 1);
    if (strcmp(argv[1], "scale") == 0)
        return scale(argc - 1, argv + 1);
    usage(stderr);
}
