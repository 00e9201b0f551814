/* swagg: the command line, and what is set up before the data path. */
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "command_line.h"
#include "config/config.h"
#include "config/reserved.h"
#include "daemon.h"
#include "eal.h"
#include "lcore/lcore.h"
#include "pin.h"
#include "port/buffers_near.h"
#include "port/linux/features.h"
#include "privileges.h"
#include "probe.h"
#include "registry/keyring.h"
#include "registry/signals.h"
#include "show/views_page.h"
#include "standard_streams.h"
#include "version.h"

struct arguments {
    const char *file;
    bool check, probe, settings, views;
    char **eal; /* NULL-terminated, what follows "--" */
};

static const char intro[] =
    "usage: swagg [--check | --probe] FILE [-- EAL arguments]\n"
    "       swagg doctor [OPTION...] [FILE]\n"
    "An aggregation switch: switches frames between its ports, and sums gradient packets on their way.\n";

static const struct option_row rows[] = {
    {NULL, 0, "FILE", NULL, 0, 0, 0, "the configuration (docs/configuration.md, examples in conf/)"},
    {"config", 'c', "FILE", option_text, offsetof(struct arguments, file), 0, 0, "the same"},
    {"check", 0, NULL, option_flag, offsetof(struct arguments, check), 0, 0,
     "only say whether the configuration is good"},
    {"probe", 0, NULL, option_flag, offsetof(struct arguments, probe), 0, 0,
     "only open the ports, and print what they are on this machine, as tables in Markdown"},
    {"settings", 0, NULL, option_flag, offsetof(struct arguments, settings), 0, 0,
     "print all settings of a configuration, as tables in Markdown"},
    {"views", 0, NULL, option_flag, offsetof(struct arguments, views), 0, 0,
     "print what there is to see of a running switch, as tables in Markdown"},
    {NULL, 0, "-- ...", NULL, 0, 0, 0,
     "arguments for DPDK's EAL, such as --file-prefix=NAME, by which several run on one machine; lcore and "
     "memory options replace those that the configuration implies"},
};

/* What follows "--" is the EAL's: cut off before the options are read. */
static char **split_eal_arguments(int *argc, char *argv[])
{
    for (int i = 1; i < *argc; i++)
        if (strcmp(argv[i], "--") == 0) {
            argv[i] = NULL;
            *argc = i;
            return &argv[i + 1];
        }
    return &argv[*argc];
}

/* OPTIONS_READ, or the exit status. */
static int parse_command_line(struct arguments *a, int argc, char *argv[])
{
    const struct option_group group = {rows, sizeof(rows) / sizeof(rows[0]), a};
    const struct command_line line = {.version = build_version,
                                      .intro = intro,
                                      .operands = "configuration",
                                      .is_optional = true,
                                      .hint = "what is for DPDK's EAL stands behind \"--\"",
                                      .groups = &group,
                                      .count = 1};

    *a = (struct arguments){.eal = split_eal_arguments(&argc, argv)};
    const int status = options_read(&line, argc, argv);
    if (status != OPTIONS_READ || a->settings || a->views)
        return status;
    if (a->file == NULL && optind < argc)
        a->file = argv[optind++];
    if (a->file == NULL)
        return refuse_usage("which configuration? Examples are in conf/");
    return optind < argc ? refuse_usage("one configuration at a time") : OPTIONS_READ;
}

/* Whether the ports are such as this program has; else it says which program has them. */
static bool takes_ports(const struct config *cfg)
{
    for (unsigned p = 0; p < cfg->ports; p++)
        if (config_is_chip_device(cfg->port[p].device)) {
            log_error("port %s: %s is a port of a Tofino: swagg-tofino takes this file", cfg->port[p].name,
                      cfg->port[p].device);
            return false;
        }
    return true;
}

/* Whether the machine has the CPUs and the memory, and they are enough; else the log says what is not. */
static bool fits_machine(const struct config *cfg, char *const eal[])
{
    unsigned lcores;
    const bool cpus = pin_check(cfg, &lcores);

    return eal_memory_fits(cfg, datapath_megabytes(cfg, lcores), eal) && cpus;
}

/* What an ordinary job will take of the pool: one of few ranks, and one of many. */
static void say_room(const struct config *cfg, const char *file)
{
    struct reservation few = {.ranks = 8, .slots = cfg->pool.slots_per_job},
                       many = {.ranks = 64, .slots = cfg->pool.slots_per_job};

    if (cfg->has_ip && reserved_measure(cfg, &few) && reserved_measure(cfg, &many))
        printf("%s: with %u slots a job of %u ranks takes %.1f MB of pool.megabytes (%u), one of %u ranks "
               "%.1f MB; where so much is not free, it gets half as many slots, and so on\n",
               file, few.slots, few.ranks, (double)few.bytes / (1 << 20), cfg->pool.megabytes, many.ranks,
               (double)many.bytes / (1 << 20));
}

static void say_nodes(const struct config *cfg, const char *file)
{
    struct buffers planned;

    buffers_plan(&planned, cfg, 1);
    if (planned.n > 1)
        printf("%s: ports are on %u NUMA nodes: each node has packet buffers of its own\n", file, planned.n);
}

static int say_good(const struct config *cfg, const char *file)
{
    printf("%s: good: %u port%s, %s; whether the devices of the ports are there%s was not checked\n", file,
           cfg->ports, cfg->ports == 1 ? "" : "s",
           cfg->has_ip ? "switching and aggregation" : "switching only (no switch.ip)",
           cfg->state[0] == '\0' ? "" : ", and whether swagg may write to state,");
    say_nodes(cfg, file);
    say_room(cfg, file);
    return EXIT_GOOD;
}

static int start(struct config *cfg, const struct arguments *cl)
{
    struct placement placement;
    struct datapath *dp;
    int main_cpu, rc;

    signals_block();
    log_with_time();
    priority_raise_session();
    log_notice("version %s", build_version);
    linux_merge_settle(); /* looks at other processes, which takes more than is kept */
    if (cfg->privileges == CONFIG_PRIVILEGES_NEEDED && privileges_drop() < 0)
        return EXIT_BAD;
    main_cpu = pin_lcores(&placement, cfg, eal_lcores_given(cl->eal));
    rc = eal_start(cfg, &placement, main_cpu, cl->eal);
    if (rc < 0)
        return rc == -EINVAL ? EXIT_USAGE : EXIT_BAD;
    log_notice("memory: %s", eal_memory());
    rc = datapath_open(&dp, cfg, &placement);
    if (rc == 0)
        rc = cl->probe ? probe_print(dp, stdout) : daemon_run(dp, cl->file, cfg);
    datapath_close(dp);
    eal_stop();
    return rc == 0 ? EXIT_GOOD : EXIT_BAD;
}

/* `swagg doctor ...` is `swagg-doctor --switch ...` of this build: beside this program, or where it was
 * built, or anywhere on the path. Returns only if there is none. */
static int become_doctor(char *argv[])
{
    static char name[] = "swagg-doctor", as_switch[] = "--switch";
    char beside[PATH_MAX + sizeof("/../doctor/swagg-doctor")];
    const ssize_t n = readlink("/proc/self/exe", beside, PATH_MAX);
    char *end;

    argv[0] = name;
    argv[1] = as_switch;
    if (n > 0) {
        beside[n] = '\0';
        end = strrchr(beside, '/');
        strcpy(end, "/swagg-doctor");
        execv(beside, argv);
        strcpy(end, "/../doctor/swagg-doctor");
        execv(beside, argv);
    }
    execvp(name, argv);
    complain("there is no swagg-doctor: %s", strerror(errno));
    return EXIT_BAD;
}

int main(int argc, char *argv[])
{
    static struct config cfg; /* large */
    struct arguments cl;

    standard_streams_begin();
    if (argc > 1 && strcmp(argv[1], "doctor") == 0)
        return become_doctor(argv);
    const int status = parse_command_line(&cl, argc, argv);
    if (status != OPTIONS_READ)
        return status;
    if (cl.settings) {
        config_print_settings(stdout);
        return EXIT_GOOD;
    }
    if (cl.views) {
        views_page_print();
        return EXIT_GOOD;
    }
    if (config_load(&cfg, cl.file, log_report, NULL) < 0 || !takes_ports(&cfg))
        return EXIT_USAGE;
    if (!(keyring_is_good(&cfg) & machine_suits(&cfg) &
          fits_machine(&cfg, cl.eal))) /* all say what is wrong */
        return EXIT_USAGE;
    if (cl.check)
        return say_good(&cfg, cl.file);
    log_set_level(cfg.log_level);
    return start(&cfg, &cl);
}
