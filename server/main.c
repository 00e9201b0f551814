/* swagg-ps: a server that sums, on UDP sockets of the kernel's (docs/server.md). */
#include <arpa/inet.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "command_line.h"
#include "commands.h"
#include "config/config.h"
#include "metrics/metrics.h"
#include "operator/operators.h"
#include "ps.h"
#include "registry/keyring.h"
#include "standard_streams.h"
#include "version.h"

static const char intro[] =
    "usage: swagg-ps [--check] FILE\n"
    "A server that sums what workers send it, in the place of a switch, or beside one as parameter server.\n"
    "Needs no privileges, and no device of its own.\n";

static const struct option_row rows[] = {
    {NULL, 0, "FILE", NULL, 0, 0, 0,
     "the configuration, with a group server (docs/server.md, example in conf/server.yaml)"},
    {"check", 0, NULL, option_flag, 0, 0, 0, "only say whether the configuration is good"},
};

static int start_operators(struct operators **operators, struct ps *ps)
{
    const struct operators_host host = {.kind = "server",
                                        .name = ps->name,
                                        .run = commands_run,
                                        .context = ps,
                                        .history = ps->history,
                                        .views = {commands_view, ps}};

    return operators_start(operators, &host, &ps->cfg->control);
}

static int start_metrics(struct metrics **metrics, struct ps *ps)
{
    const struct metrics_host host = {.kind = "server", .views = {commands_view, ps}};

    return metrics_start(metrics, &host, &ps->cfg->metrics);
}

static int serve(struct config *cfg, const char *file)
{
    static struct ps ps;
    struct operators *operators = NULL;
    struct metrics *metrics = NULL;
    char ip[INET_ADDRSTRLEN];
    const unsigned megabytes = cfg->pool.megabytes;
    int rc;

    inet_ntop(AF_INET, &cfg->server.ip, ip, sizeof(ip));
    log_with_time();
    log_set_level((enum log_level)cfg->log_level);
    rc = ps_open(&ps, cfg, file);
    if (rc == 0)
        rc = start_operators(&operators, &ps); /* from here on one of them may change cfg */
    if (rc == 0)
        rc = start_metrics(&metrics, &ps);
    if (rc == 0) {
        log_notice("swagg-ps %s serves at %s, %u threads, %u MB for sums", build_version, ip, ps.shards,
                   megabytes);
        ps_run(&ps);
    }
    handoff_close(&ps.handoff);
    operators_stop(operators);
    metrics_stop(metrics);
    ps_close(&ps);
    return rc < 0 ? EXIT_BAD : EXIT_GOOD;
}

int main(int argc, char *argv[])
{
    static struct config cfg;
    bool check = false;
    const struct option_group group = {rows, sizeof(rows) / sizeof(rows[0]), &check};
    const struct command_line line = {
        .version = build_version, .intro = intro, .operands = "configuration", .groups = &group, .count = 1};

    standard_streams_begin();
    log_program("swagg-ps");
    const int status = options_read(&line, argc, argv);
    if (status != OPTIONS_READ)
        return status;
    if (argc - optind > 1)
        return refuse_usage("one configuration at a time");
    if (config_load_server(&cfg, argv[optind], log_report, NULL) < 0)
        return EXIT_USAGE;
    if (!(keyring_is_good(&cfg) & machine_suits(&cfg))) /* both say what is wrong */
        return EXIT_USAGE;
    if (check)
        return printf("%s: good; whether server.ip is this machine's was not checked\n", argv[optind]) < 0;
    return serve(&cfg, argv[optind]);
}
