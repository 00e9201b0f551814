#include "daemon.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_lcore.h>

#include "base/log.h"
#include "base/secret.h"
#include "commands/commands.h"
#include "control/control.h"
#include "control/static_jobs.h"
#include "eal.h"
#include "history/history.h"
#include "metrics/metrics.h"
#include "monotonic.h"
#include "operator/operators.h"
#include "operator/reply.h"
#include "port/frame.h"
#include "protocols.h"
#include "reload.h"
#include "show/parts.h"
#include "show/telemetry.h"
#include "switchml/protocol.h"

/* --- the lines that the log gets once everything runs --- */

enum { LIST_MAX = 512 };

/* The names of the queues that an lcore receives from, or sends to. */
static const char *queue_list(char text[LIST_MAX], const struct show_parts *parts, const struct lcore *lc,
                              bool tx)
{
    struct port_queue_id queue[PORT_QUEUES_MAX];
    const unsigned queues = tx ? lcore_tx_queues(lc, queue) : lcore_rx_queues(lc, queue);
    char name[PORT_QUEUE_NAME_MAX];
    int n = snprintf(text, LIST_MAX, "%s", queues == 0 ? " -" : "");

    for (unsigned i = 0; i < queues && n < LIST_MAX; i++) {
        const struct port *port = &parts->port[queue[i].port];

        n += snprintf(text + n, LIST_MAX - (size_t)n, " %s",
                      port_queue_name(name, port, tx ? port->tx_queues : port->rx_queues, queue[i].queue));
    }
    return text;
}

static void show_port(const struct port *port)
{
    char mac[NET_MAC_TEXT_MAX];

    net_mac_text(mac, &port->mac);
    log_notice("port %s: %s, MAC %s, MTU %u%s%s", port->name, port->device_name, mac,
               port->max_frame - FRAME_PORT_BYTES,
               port_impairments(&port->rx[0]) != NULL ? ", impaired on receiving" : "",
               port_impairments(&port->tx[0]) != NULL ? ", impaired on sending" : "");
}

static void show_lcore(const struct show_parts *parts, const struct lcore *lc)
{
    char rx[LIST_MAX], tx[LIST_MAX];

    log_notice("lcore %u on CPU %d: receives from%s, sends to%s, aggregates %u of %u shards", lc->eal_id,
               lcore_cpu(lc), queue_list(rx, parts, lc, false), queue_list(tx, parts, lc, true),
               (unsigned)__builtin_popcountll(lc->shards), parts->shards->n);
}

static void banner_ready(const struct show_parts *parts)
{
    char mac[NET_MAC_TEXT_MAX];
    const uint8_t *ip = (const uint8_t *)&parts->ip;
    const unsigned ports = (unsigned)__builtin_popcountll(ports_there(parts->ports));

    for (uint64_t left = ports_there(parts->ports); left != 0; left &= left - 1)
        show_port(&parts->port[rte_bsf64(left)]);
    for (unsigned i = 0; i < parts->lcores->n; i++)
        show_lcore(parts, parts->lcores->lcore[i]);
    net_mac_text(mac, &parts->mac);
    if (parts->ip == 0)
        log_notice("ready: %u ports, MAC %s, no IP: switching only", ports, mac);
    else
        log_notice("ready: %u ports, MAC %s, IP %u.%u.%u.%u", ports, mac, ip[0], ip[1], ip[2], ip[3]);
}

/* What the main lcore has beside the data path. */
struct daemon {
    struct history *history;
    struct uplinks uplinks;
    struct registrar *registrar;
    struct control *control;
    struct static_jobs static_jobs;
    struct handoff handoff; /* from operators to the main lcore */
    pthread_mutex_t shown_lock;
    struct show_parts shown;
    struct reload reload;
    struct action_parts changed;
    struct operators *operators;
    struct metrics *metrics;
};

/* Before the polling lcores start: they note where its neighbours are. */
static void open_uplinks(struct daemon *d, struct datapath *dp, const struct config *cfg)
{
    d->uplinks = (struct uplinks){.post = {.host = &lcores_main(&dp->lcores)->host, .bridge = dp->bridge},
                                  .neighbours = &dp->neighbours,
                                  .port = dp->port,
                                  .ports = &dp->ports,
                                  .probe_port = sml_protocol.udp_ports.first};
    uplinks_init(&d->uplinks, cfg);
}

static int open_registrar(struct daemon *d, struct datapath *dp, const struct config *cfg)
{
    struct registrar_parts parts = {.common = {.cfg = cfg,
                                               .boot_id = secret64() | 1,
                                               .data_ports = dp->data_ports,
                                               .history = d->history},
                                    .lcores = &dp->lcores,
                                    .bridge = dp->bridge,
                                    .jobs = &dp->jobs,
                                    .uplinks = &d->uplinks};

    parts.common.protocols = agg_protocols(&parts.common.protocols_known);
    return registrar_open(&d->registrar, &parts);
}

static int open_control(struct daemon *d, struct datapath *dp, const struct config *cfg)
{
    const struct control_parts parts = {.lcores = &dp->lcores,
                                        .port = dp->port,
                                        .ports = &dp->ports,
                                        .bridge = dp->bridge,
                                        .vlans = &dp->vlans,
                                        .claim = &dp->claim,
                                        .loops = &dp->loops,
                                        .inbox = &dp->to_control,
                                        .registrar = d->registrar,
                                        .static_jobs = &d->static_jobs,
                                        .operators = &d->handoff,
                                        .reload = &d->reload.common};

    return control_open(&d->control, &parts, cfg);
}

static int open_static_jobs(struct daemon *d, struct datapath *dp, const struct config *cfg)
{
    d->static_jobs = (struct static_jobs){.jobs = &dp->jobs,
                                          .us = (struct jobs_identity){.mac = dp->mac, .ip = dp->ip},
                                          .shown = &d->shown_lock};
    return static_jobs_open(&d->static_jobs, cfg, monotonic_ns());
}

/* What operators see, and what they and another configuration change. */
static void put_together(struct daemon *d, struct datapath *dp, const char *file, struct config *running)
{
    d->shown = (struct show_parts){.lock = &d->shown_lock,
                                   .name = eal_name(),
                                   .started = monotonic_ns(),
                                   .mac = dp->mac,
                                   .ip = dp->ip,
                                   .port = dp->port,
                                   .ports = &dp->ports,
                                   .lcores = &dp->lcores,
                                   .shards = &dp->shards,
                                   .buffers = &dp->buffers,
                                   .bridge = dp->bridge,
                                   .vlans = &dp->vlans,
                                   .config = running,
                                   .jobs = &dp->jobs,
                                   .uplinks = &d->uplinks,
                                   .registrar = d->registrar,
                                   .static_jobs = &d->static_jobs,
                                   .history = d->history};
    d->reload = (struct reload){.dp = dp,
                                .registrar = d->registrar,
                                .control = d->control,
                                .static_jobs = &d->static_jobs,
                                .impairing = &d->changed.impairing,
                                .shown = &d->shown};
    reload_init(&d->reload, file, running);
    d->changed = (struct action_parts){.show = &d->shown,
                                       .main = &d->handoff,
                                       .common = {&d->registrar->common, &d->reload.common},
                                       .static_jobs = &d->static_jobs,
                                       .port = dp->port,
                                       .bridge = dp->bridge,
                                       .rcu = dp->rcu,
                                       .impairing = {.port = dp->port,
                                                     .ports = &dp->ports,
                                                     .lcores = &dp->lcores,
                                                     .rcu = dp->rcu,
                                                     .mac = dp->mac,
                                                     .long_buffers = dp->long_buffers},
                                       .reloading = {.add_port = reload_add_port,
                                                     .delete_port = reload_delete_port,
                                                     .add_job = reload_add_job,
                                                     .delete_job = reload_delete_job,
                                                     .reload = &d->reload}};
}

static int start_control_thread(pthread_t *thread, void *(*run)(void *), void *argument)
{
    return rte_ctrl_thread_create(thread, "swagg-operator", NULL, run, argument);
}

static int start_metrics_thread(pthread_t *thread, void *(*run)(void *), void *argument)
{
    return rte_ctrl_thread_create(thread, "swagg-metrics", NULL, run, argument);
}

static int start_operators(struct daemon *d, const struct config *running)
{
    const struct operators_host host = {.kind = "switch",
                                        .name = d->shown.name,
                                        .run = commands_run,
                                        .context = &d->changed,
                                        .history = d->history,
                                        .views = {commands_view, &d->shown},
                                        .start_thread = start_control_thread};

    return operators_start(&d->operators, &host, &running->control);
}

static int start_metrics(struct daemon *d, const struct config *running)
{
    const struct metrics_host host = {
        .kind = "switch", .views = {commands_view, &d->shown}, .start_thread = start_metrics_thread};

    return metrics_start(&d->metrics, &host, &running->metrics);
}

static int start(struct daemon *d, struct datapath *dp, const char *file, struct config *running)
{
    int rc = -ENOMEM;

    d->history = history_new(NULL);
    open_uplinks(d, dp, running);
    if (d->history != NULL)
        rc = open_registrar(d, dp, running);
    if (rc == 0)
        rc = open_control(d, dp, running);
    if (rc == 0)
        rc = open_static_jobs(d, dp, running);
    put_together(d, dp, file, running);
    if (rc == 0)
        rc = telemetry_start(&d->shown);
    if (rc == 0)
        rc = start_operators(d, running);
    if (rc == 0)
        rc = start_metrics(d, running);
    if (rc == 0)
        rc = datapath_start(dp);
    if (rc == 0)
        banner_ready(&d->shown);
    return rc;
}

int daemon_run(struct datapath *dp, const char *file, struct config *running)
{
    struct daemon d = {.shown_lock = PTHREAD_MUTEX_INITIALIZER};
    int rc = handoff_open(&d.handoff);

    if (rc < 0)
        return log_fail(rc, "cannot set up the way from operators to the main thread: %s", strerror(-rc));
    rc = start(&d, dp, file, running);
    if (rc == 0)
        rc = control_run(d.control);
    if (rc > 0) {
        log_notice("stopping: %s", strsignal(rc));
        rc = 0;
    }
    handoff_close(&d.handoff);
    operators_stop(d.operators);
    metrics_stop(d.metrics);
    datapath_stop(dp);
    telemetry_stop();
    static_jobs_close(&d.static_jobs);
    control_close(d.control);
    registrar_close(d.registrar);
    history_free(d.history);
    handoff_free(&d.handoff);
    return rc;
}
