/* swagg-sim: plays the switch and its workers against a bad network, by the seed. docs/simulation.md. */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <malloc.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "atp_run.h"
#include "chip_protocol.h"
#include "command_line.h"
#include "curves/curves.h"
#include "hosts/world.h"
#include "incast.h"
#include "monotonic.h"
#include "rdma.h"
#include "replay/table.h"
#include "runner.h"
#include "scale/scale.h"
#include "schedule_options.h"
#include "standard_streams.h"
#include "switches/world.h"
#include "tat_table.h"
#include "version.h"

#define ROWS(table) table, sizeof(table) / sizeof(table[0])

/* As options_read, for a command. */
static int read_line(const char *intro, const struct option_row rows[], size_t n, void *fields, int argc,
                     char **argv)
{
    const struct option_group group = {rows, n, fields};

    return options_read(&(struct command_line){.intro = intro, .groups = &group, .count = 1}, argc, argv);
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
        .scenarios = 1, .benign = r.benign, .paper = r.paper, .failed = r.failed, .sum = r.n};

    runner_print(&t, 0);
    if (r.failed)
        printf("seed %" PRIu64 ": %s\n", seed, r.text);
    return r.failed;
}

struct run_arguments {
    struct runner_config cfg;
    bool one, trace;
    uint64_t seed;
};

static bool read_chip(const struct option_row *row, const char *text, void *field)
{
    (void)row;
    chip_protocol_set(text);
    *(bool *)field = true;
    return true;
}

static bool read_seed(const struct option_row *row, const char *text, void *field)
{
    struct run_arguments *a = field;

    a->one = true;
    return option_number(row, text, &a->seed);
}

#define FIELD(member) offsetof(struct run_arguments, member)

static const struct option_row run_rows[] = {
    {"seeds", 0, "COUNT", option_number, FIELD(cfg.count), 1, UINT32_MAX,
     "how many scenarios; default 1000, or what SWAGG_SIM_SEEDS says"},
    {"first", 0, "SEED", option_number, FIELD(cfg.first), 0, UINT64_MAX / 2, "of the first one; default 1"},
    {"jobs", 0, "N", option_unsigned, FIELD(cfg.jobs), 1, 1024, "on so many CPUs; default: all"},
    {"seed", 0, "SEED", read_seed, 0, 0, UINT64_MAX, "play one"},
    {"trace", 0, NULL, option_flag, FIELD(trace), 0, 0, "with --seed: show what happens"},
    {"chip", 0, "COMMAND", read_chip, FIELD(cfg.chip), 0, 0,
     "with the program for Tofino chips for the switch (tests/p4/chip_pipe.py)"},
};
#undef FIELD

/* How many scenarios there are, unless --seeds says: what SWAGG_SIM_SEEDS does, or as many as usual. */
static bool default_seeds(uint64_t usual, uint64_t *count)
{
    static const struct option_row row = {.name = "SWAGG_SIM_SEEDS", .least = 1, .most = UINT32_MAX};
    const char *seeds = getenv(row.name);

    *count = usual;
    return seeds == NULL || option_number(&row, seeds, count);
}

static int run(int argc, char **argv)
{
    struct run_arguments a = {.cfg = {.first = 1, .jobs = free_cpus()}};

    if (!default_seeds(1000, &a.cfg.count))
        return EXIT_USAGE;
    const int status = read_line("usage: swagg-sim run [OPTION...]\nPlays scenarios, by their seeds.\n",
                                 ROWS(run_rows), &a, argc, argv);
    if (status != OPTIONS_READ)
        return status;
    if (a.trace && !a.one)
        return refuse_usage("--trace: only with --seed");
    if (a.one)
        return play_one(a.seed, a.cfg.chip, a.trace);

    double start = monotonic_seconds();
    struct runner_tally t = runner_run(&a.cfg);
    runner_print(&t, monotonic_seconds() - start);
    return t.failed > 0 || t.crashed > 0;
}

/* swagg-sim tat */

struct tat_arguments {
    struct tat_table_config cfg;
    const char *json;
    unsigned megabytes, slots, chunk, delay_us, queue_kb, round_us, timer_us;
};

/* "10,100": at most `most` items, which take adds. */
static bool read_list(const struct option_row *row, const char *text, struct tat_table_config *cfg,
                      unsigned most,
                      bool (*take)(const struct option_row *row, const char *item,
                                   struct tat_table_config *cfg, unsigned i))
{
    char list[256];
    unsigned n = 0;

    snprintf(list, sizeof(list), "%s", text);
    for (char *save, *item = strtok_r(list, ",", &save); item != NULL; item = strtok_r(NULL, ",", &save)) {
        if (n == most) {
            complain("--%s: at most %u", row->name, most);
            return false;
        }
        if (!take(row, item, cfg, n++))
            return false;
    }
    return true;
}

static bool take_speed(const struct option_row *row, const char *item, struct tat_table_config *cfg,
                       unsigned i)
{
    cfg->speeds = i + 1;
    return option_unsigned(row, item, &cfg->gbps[i]);
}

static bool read_speeds(const struct option_row *row, const char *text, void *field)
{
    return read_list(row, text, field, TAT_SPEEDS_MAX, take_speed);
}

static bool take_loss(const struct option_row *row, const char *item, struct tat_table_config *cfg,
                      unsigned i)
{
    char *end;
    const double percent = strtod(item, &end);

    if (*end != '\0' || !(percent >= 0.0001 && percent <= 50)) {
        complain("--%s: \"%s\" is not a percentage from 0.0001 to 50", row->name, item);
        return false;
    }
    cfg->losses = i + 1;
    cfg->loss_ppm[i] = (uint32_t)(percent * 1e4 + 0.5);
    return true;
}

static bool read_losses(const struct option_row *row, const char *text, void *field)
{
    return read_list(row, text, field, TAT_LOSSES_MAX, take_loss);
}

#define FIELD(member) offsetof(struct tat_arguments, member)

static const struct option_row tat_rows[] = {
    {"gbps", 0, "LIST", read_speeds, FIELD(cfg), 1, 1000, "of the links; default 10,100"},
    {"loss", 0, "LIST", read_losses, FIELD(cfg), 0, 0, "in percent; default 0.01,0.1,1"},
    {"workers", 0, "N", option_unsigned, FIELD(cfg.base.workers), 1, AGG_MAX_WORKERS, "default 4"},
    {"threads", 0, "N", option_unsigned, FIELD(cfg.base.threads), 1, TAT_THREADS_MAX,
     "of each of our workers, that share its link; default 1"},
    {"calls", 0, "N", option_unsigned, FIELD(cfg.base.calls), 1, 1000,
     "of our workers, one after the other, of which the mean counts; default 1"},
    {"mb", 0, "N", option_unsigned, FIELD(megabytes), 1, 10000, "of the tensor; default 100"},
    {"slots", 0, "N", option_unsigned, FIELD(slots), 2, SML_MAX_SLOTS, "default 512"},
    {"chunk", 0, "BYTES", option_unsigned, FIELD(chunk), 64, SML_MAX_CHUNK_BYTES, "default 1460"},
    {"delay-us", 0, "N", option_unsigned, FIELD(delay_us), 0, 1000000, "of a link; default 5"},
    {"queue-kb", 0, "N", option_unsigned, FIELD(queue_kb), 1, 1 << 20, "of a port; default 2048"},
    {"shards", 0, "N", option_unsigned, FIELD(cfg.base.shards), 1, TAT_SHARDS_MAX, "default 1"},
    {"round-us", 0, "N", option_unsigned, FIELD(round_us), 0, 1000000, "of a busy switch; default 0"},
    {"paper-timer-us", 0, "N", option_unsigned, FIELD(timer_us), 1, 10000000, "default 1000"},
    {"runs", 0, "N", option_unsigned, FIELD(cfg.runs), 1, 99, "of each; default 3"},
    {"json", 0, "FILE", option_text, FIELD(json), 0, 0, "the table, too"},
};
#undef FIELD

static int tat(int argc, char **argv)
{
    struct tat_arguments a = {
        .cfg = {.speeds = 2,
                .gbps = {10, 100},
                .losses = 3,
                .loss_ppm = {100, 1000, 10000},
                .runs = 3,
                .base = {.workers = 4, .threads = 1, .calls = 1, .shards = 1}},
        .megabytes = 100,
        .slots = 512,
        .chunk = 1460,
        .delay_us = 5,
        .queue_kb = 2048,
        .timer_us = 1000,
    };
    const int status = read_line("usage: swagg-sim tat [OPTION...]\n"
                                 "Time of an allreduce: our timer beside the paper's.\n",
                                 ROWS(tat_rows), &a, argc, argv);
    if (status != OPTIONS_READ)
        return status;
    a.cfg.base.tensor_bytes = a.megabytes * UINT64_C(1000000);
    a.cfg.base.slots = (uint16_t)a.slots;
    a.cfg.base.chunk_bytes = (uint16_t)a.chunk;
    a.cfg.base.delay_ns = a.delay_us * US;
    a.cfg.base.queue_bytes = a.queue_kb << 10;
    a.cfg.base.round_ns = a.round_us * US;
    a.cfg.base.paper_timeout_ns = a.timer_us * US;
    if (a.json != NULL && (a.cfg.json = fopen(a.json, "w")) == NULL) {
        complain("--json: cannot write %s: %s", a.json, strerror(errno));
        return EXIT_BAD;
    }
    bool exact = tat_table(&a.cfg);
    if (a.cfg.json != NULL && fclose(a.cfg.json) != 0) {
        complain("--json: %s", strerror(errno));
        return EXIT_BAD;
    }
    return exact ? EXIT_GOOD : EXIT_BAD;
}

/* swagg-sim atp */

struct atp_arguments {
    uint64_t first, count;
    bool measure, curves;
    struct curves_command c;
};

#define FIELD(member) offsetof(struct atp_arguments, member)

static const struct option_row atp_rows[] = {
    {"seeds", 0, "COUNT", option_number, FIELD(count), 1, UINT32_MAX,
     "how many scenarios; default 2000, or what SWAGG_SIM_SEEDS says"},
    {"first", 0, "SEED", option_number, FIELD(first), 0, UINT64_MAX / 2, "of the first one; default 1"},
    {"measure", 0, NULL, option_flag, FIELD(measure), 0, 0, "how its jobs share a link, and aggregators"},
    {"curves", 0, NULL, option_flag, FIELD(curves), 0, 0,
     "what it does at 100 Gb/s with many workers and jobs"},
    {"small", 0, NULL, option_flag, FIELD(c.small), 0, 0, "with --curves: fewer of both"},
    {"json", 0, "FILE", option_text, FIELD(c.json), 0, 0, "with --curves: them, too"},
    {"jobs", 0, "N", option_unsigned, FIELD(c.threads), 1, CURVES_THREADS_MAX,
     "on so many CPUs; default: all"},
};
#undef FIELD

static int atp(int argc, char **argv)
{
    struct atp_arguments a = {.first = 1, .c = {.threads = free_cpus()}};

    if (!default_seeds(2000, &a.count))
        return EXIT_USAGE;
    const int status = read_line("usage: swagg-sim atp [OPTION...]\nPlays scenarios of ATP.\n",
                                 ROWS(atp_rows), &a, argc, argv);

    if (status != OPTIONS_READ)
        return status;
    if (!a.curves && (a.c.small || a.c.json != NULL))
        return refuse_usage("--%s: only with --curves", a.c.small ? "small" : "json");
    if (a.curves)
        return curves_command(&a.c);
    return (a.measure ? atp_measure_table() : atp_run(a.first, a.count)) ? EXIT_GOOD : EXIT_BAD;
}

/* swagg-sim hosts, swagg-sim rdma, swagg-sim switches */

struct seeds_arguments {
    uint64_t first, count;
    bool trace;
};

#define FIELD(member) offsetof(struct seeds_arguments, member)

static const struct option_row seeds_rows[] = {
    {"seeds", 0, "COUNT", option_number, FIELD(count), 1, UINT32_MAX,
     "how many scenarios; default 1000, 300 of switches, or what SWAGG_SIM_SEEDS says"},
    {"first", 0, "SEED", option_number, FIELD(first), 0, UINT64_MAX / 2, "of the first one; default 1"},
    {"trace", 0, NULL, option_flag, FIELD(trace), 0, 0, "show what happens"},
};
#undef FIELD

static int play_seeds(const char *usage, bool (*play)(uint64_t first, uint64_t count, bool trace),
                      uint64_t usual, int argc, char **argv)
{
    struct seeds_arguments a = {.first = 1};

    if (!default_seeds(usual, &a.count))
        return EXIT_USAGE;
    const int status = read_line(usage, ROWS(seeds_rows), &a, argc, argv);

    if (status != OPTIONS_READ)
        return status;
    return play(a.first, a.count, a.trace) ? EXIT_GOOD : EXIT_BAD;
}

static int hosts(int argc, char **argv)
{
    return play_seeds("usage: swagg-sim hosts [OPTION...]\n"
                      "Plays jobs whose ranks sum in the memory of their hosts first.\n",
                      hosts_run, 1000, argc, argv);
}

static int rdma(int argc, char **argv)
{
    return play_seeds("usage: swagg-sim rdma [OPTION...]\n"
                      "Plays jobs of workers with RDMA: messages that a lost packet voids.\n",
                      rdma_run, 1000, argc, argv);
}

static int switches(int argc, char **argv)
{
    return play_seeds("usage: swagg-sim switches [OPTION...]\n"
                      "Plays jobs by several switches, whose links fail and come back.\n",
                      switches_run, 300, argc, argv);
}

/* swagg-sim incast */

static const struct option_row incast_rows[] = {
    {"runs", 0, "N", option_unsigned, 0, 1, 1000, "of each; default 2"},
};

static int incast(int argc, char **argv)
{
    unsigned runs = 2;
    const int status = read_line("usage: swagg-sim incast [OPTION...]\n"
                                 "Calls of many ranks behind one server's link.\n",
                                 ROWS(incast_rows), &runs, argc, argv);

    if (status != OPTIONS_READ)
        return status;
    return incast_table(runs) ? EXIT_GOOD : EXIT_BAD;
}

/* swagg-sim scale */

#define FIELD(member) offsetof(struct scale_command, member)

static const struct option_row scale_rows[] = {
    {"costs", 0, "FILE", option_text, FIELD(costs), 0, 0,
     "of a switch's lcores; default docs/results/data/dataplane.json"},
    {"out", 0, "DIRECTORY", option_text, FIELD(out), 0, 0,
     "of scale.md, whose tables are replaced, and scale.svg"},
    {"json", 0, "FILE", option_text, FIELD(json), 0, 0, "the tables, too"},
    {"small", 0, NULL, option_flag, FIELD(small), 0, 0, "fewer of all"},
    {"jobs", 0, "N", option_unsigned, FIELD(jobs), 1, SCALE_JOBS_MAX, "on so many CPUs; default: all"},
};
#undef FIELD

static int scale(int argc, char **argv)
{
    struct scale_command c = {.costs = "docs/results/data/dataplane.json", .jobs = free_cpus()};
    const int status = read_line("usage: swagg-sim scale [OPTION...]\n"
                                 "Trees of switches with 240 and 3,600 workers.\n",
                                 ROWS(scale_rows), &c, argc, argv);

    return status != OPTIONS_READ ? status : scale_command(&c);
}

/* swagg-sim replay */

#define FIELD(member) offsetof(struct table_config, member)

static const struct option_row replay_rows[] = {
    {"gbps", 0, "N", option_factor, FIELD(gbps), 0, 0, "of the links; default 10"},
    {"workers", 0, "N", option_unsigned, FIELD(workers), 2, AGG_MAX_WORKERS, "default 8"},
    {"delay-us", 0, "N", option_unsigned, FIELD(delay_us), 0, 1000000, "of a link; default 5"},
    {"slots", 0, "N", option_unsigned, FIELD(slots), 2, SML_MAX_SLOTS, "of the switch; default 1024"},
    {"json", 0, "FILE", option_text, FIELD(json), 0, 0, "the table, too"},
};
#undef FIELD

static int replay(int argc, char **argv)
{
    struct table_config c = {
        .how = SCHEDULE_HOW_DEFAULT, .gbps = 10, .workers = 8, .delay_us = 5, .slots = 1024};
    const struct option_group groups[] = {{ROWS(replay_rows), &c}, {schedule_rows, SCHEDULE_OPTIONS, &c.how}};
    const struct command_line line = {.intro = "usage: swagg-sim replay PROFILE... [OPTION...]\n"
                                               "What a step of training would take, by the model's profile "
                                               "(docs/replay.md).\n",
                                      .operands = "profile",
                                      .groups = groups,
                                      .count = sizeof(groups) / sizeof(groups[0])};
    const int status = options_read(&line, argc, argv);

    if (status != OPTIONS_READ)
        return status;
    if ((c.slots & (c.slots - 1)) != 0)
        return refuse_usage("--slots: %u is not a power of two", c.slots);
    c.profiles = (const char *const *)&argv[optind];
    c.n = (unsigned)(argc - optind);
    return replay_table(&c);
}

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *help;
} commands[] = {
    {"run", run, "play scenarios by their seeds, or one, and show what happens"},
    {"tat", tat, "time of an allreduce: our timer beside the paper's"},
    {"atp", atp, "play scenarios of ATP; how its jobs share a link; curves at 100 Gb/s"},
    {"hosts", hosts, "play jobs whose ranks share hosts: deaths at any step, rails through a bad network"},
    {"rdma", rdma, "play jobs of workers with RDMA, whose messages a lost packet voids"},
    {"switches", switches, "play jobs by several switches, whose links fail and come back"},
    {"incast", incast, "calls of many ranks behind one server's link"},
    {"replay", replay, "what a step of training would take: with a switch that sums, and with the best ring"},
    {"scale", scale, "trees of switches with 240 and 3,600 workers"},
};

/* What a scenario frees the next one takes: where it went back to the kernel meanwhile, which hands out
 * cleared pages, that took half of the time. */
static void keep_memory(void)
{
    mallopt(M_MMAP_THRESHOLD, 32 << 20); /* more glibc does not take */
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
}

static void print_commands(void)
{
    puts("\ncommands, each with its own --help:");
    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
        printf("  %-24s%s\n", commands[i].name, commands[i].help);
}

int main(int argc, char **argv)
{
    const struct command_line line = {
        .version = build_version,
        .intro =
            "usage: swagg-sim COMMAND [OPTION...]\n"
            "Plays the switch and its workers against a bad network, by the seed (docs/simulation.md).\n",
        .operands = "command",
        .ends_at_operand = true,
        .print_rest = print_commands};

    standard_streams_begin();
    keep_memory();
    const int status = options_read(&line, argc, argv);
    if (status != OPTIONS_READ)
        return status;
    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
        if (strcmp(argv[optind], commands[i].name) == 0)
            return commands[i].run(argc - optind, argv + optind);
    return refuse_usage("%s is no command", argv[optind]);
}
