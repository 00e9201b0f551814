/* swagg: the command line, and what is set up before the data path. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "config/config.h"
#include "config/machine.h"
#include "daemon.h"
#include "eal.h"
#include "exit_status.h"
#include "lcore/priority.h"
#include "pin.h"
#include "registry/keyring.h"
#include "registry/signals.h"
#include "standard_streams.h"
#include "version.h"

struct command_line {
    const char *file;
    bool check;
    char **eal; /* NULL-terminated, what follows "--" */
};

static const char usage[] =
    "usage: swagg [--check] FILE [-- EAL arguments]\n"
    "An aggregation switch: switches frames between its ports, and sums gradient packets on their way.\n"
    "\n"
    "  FILE, -c FILE, --config FILE   the configuration (docs/configuration.md, examples in conf/)\n"
    "      --check                    only say whether the configuration is good\n"
    "  -h, --help\n"
    "      --version\n"
    "  -- ...                         arguments for DPDK's EAL, such as --file-prefix=NAME; lcore and "
    "memory\n"
    "                                 options replace those that the configuration implies\n";

/* What follows "--" is the EAL's: cut off before getopt sees it. */
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

/* As parse_command_line. */
static int take_option(struct command_line *cl, int option, int *status)
{
    switch (option) {
    case 'c':
        cl->file = optarg;
        return 0;
    case 'k':
        cl->check = true;
        return 0;
    case 'h':
        fputs(usage, stdout);
        *status = EXIT_GOOD;
        return -1;
    case 'v':
        printf("swagg %s\n", build_version);
        *status = EXIT_GOOD;
        return -1;
    default: /* getopt_long has said which */
        log_error("what is for DPDK's EAL stands behind \"--\"; swagg --help tells how it is used");
        return -1;
    }
}

/* 0: go on; otherwise exit with *status. */
static int parse_command_line(struct command_line *cl, int argc, char *argv[], int *status)
{
    static const struct option options[] = {
        {"config", required_argument, NULL, 'c'},
        {"check", no_argument, NULL, 'k'},
        {"help", no_argument, NULL, 'h'},
        {"version", no_argument, NULL, 'v'},
        {NULL, 0, NULL, 0},
    };
    int option;

    *cl = (struct command_line){.eal = split_eal_arguments(&argc, argv)};
    *status = EXIT_USAGE;
    while ((option = getopt_long(argc, argv, "c:h", options, NULL)) != -1)
        if (take_option(cl, option, status) < 0)
            return -1;
    if (cl->file == NULL && optind < argc)
        cl->file = argv[optind++];
    if (cl->file == NULL || optind < argc) {
        log_error(cl->file == NULL ? "which configuration? swagg FILE; examples are in conf/"
                                   : "one configuration at a time; swagg --help tells how it is used");
        return -1;
    }
    return 0;
}

static void report_configuration(void *context, const char *message)
{
    (void)context;
    log_error("%s", message);
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

static int say_good(const struct config *cfg, const char *file)
{
    printf("%s: good: %u port%s, %s; whether the devices of the ports are there was not checked\n", file,
           cfg->ports, cfg->ports == 1 ? "" : "s",
           cfg->has_ip ? "switching and aggregation" : "switching only (no switch.ip)");
    return EXIT_GOOD;
}

static int start(struct config *cfg, const struct command_line *cl)
{
    const struct daemon_config config = {.file = cl->file, .running = cfg};
    struct placement placement;
    struct datapath *dp;
    int main_cpu, rc;

    signals_block();
    log_with_time();
    priority_raise_session();
    log_notice("version %s", build_version);
    main_cpu = pin_lcores(&placement, cfg, eal_lcores_given(cl->eal));
    rc = eal_start(cfg, &placement, main_cpu, cl->eal);
    if (rc < 0)
        return rc == -EINVAL ? EXIT_USAGE : EXIT_BAD;
    log_notice("memory: %s", eal_memory());
    rc = datapath_open(&dp, cfg, &placement);
    if (rc == 0)
        rc = daemon_run(dp, &config);
    datapath_close(dp);
    eal_stop();
    return rc == 0 ? EXIT_GOOD : EXIT_BAD;
}

int main(int argc, char *argv[])
{
    static struct config cfg; /* large */
    struct command_line cl;
    int status;

    standard_streams_begin();
    if (parse_command_line(&cl, argc, argv, &status) < 0)
        return status;
    if (config_load(&cfg, cl.file, report_configuration, NULL) < 0 || !takes_ports(&cfg))
        return EXIT_USAGE;
    if (!(keyring_is_good(&cfg) & machine_suits(&cfg) &
          fits_machine(&cfg, cl.eal))) /* all say what is wrong */
        return EXIT_USAGE;
    if (cl.check)
        return say_good(&cfg, cl.file);
    log_set_level((enum log_level)cfg.log_level);
    return start(&cfg, &cl);
}
