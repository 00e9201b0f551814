#include "daemon.h"

#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "control/control.h"
#include "control/static_jobs.h"
#include "eal.h"
#include "operator/operators.h"
#include "protocols.h"
#include "show/banner.h"
#include "show/telemetry.h"

/* What the main lcore has beside the data path. */
struct daemon {
    struct registrar *registrar;
    struct control *control;
    struct static_jobs static_jobs;
    struct handoff handoff; /* from operators to the main lcore */
    struct show_parts shown;
    struct action_parts changed;
    struct operators *operators;
};

static int open_registrar(struct daemon *d, struct datapath *dp, const struct config *cfg)
{
    struct registrar_parts parts = {.lcores = &dp->lcores,
                                    .bridge = dp->bridge,
                                    .jobs = &dp->jobs,
                                    .boot_id = dp->boot_id,
                                    .data_ports = dp->data_ports};

    parts.protocols = agg_protocols(&parts.protocols_known);
    return registrar_open(&d->registrar, &parts, cfg);
}

static void serve_operators(void *handoff)
{
    handoff_serve(handoff);
}

static int open_control(struct daemon *d, struct datapath *dp, const struct config *cfg)
{
    const struct control_parts parts = {
        .lcores = &dp->lcores,
        .port = dp->port,
        .ports = dp->ports,
        .bridge = dp->bridge,
        .vlans = &dp->vlans,
        .claim = &dp->claim,
        .loops = &dp->loops,
        .inbox = &dp->to_control,
        .registrar = d->registrar,
        .static_jobs = &d->static_jobs,
        .guest = {.fd = d->handoff.wake, .serve = serve_operators, .context = &d->handoff}};

    return control_open(&d->control, &parts, cfg);
}

static int open_static_jobs(struct daemon *d, struct datapath *dp, const struct config *cfg)
{
    const struct jobs_identity us = {.mac = dp->mac, .ip = dp->ip};

    return static_jobs_open(&d->static_jobs, &dp->jobs, &us, cfg, clock_ns());
}

static struct show_parts shown(const struct daemon *d, const struct datapath *dp, const struct config *cfg)
{
    return (struct show_parts){.name = eal_name(),
                               .started = clock_ns(),
                               .mac = dp->mac,
                               .ip = dp->ip,
                               .port = dp->port,
                               .ports = dp->ports,
                               .lcores = &dp->lcores,
                               .shards = &dp->shards,
                               .mbufs = dp->mbufs,
                               .bridge = dp->bridge,
                               .vlans = &dp->vlans,
                               .mac_age_s = cfg->timers.mac_age_s,
                               .jobs = &dp->jobs,
                               .registrar = d->registrar,
                               .static_jobs = &d->static_jobs};
}

static struct action_parts changed(struct daemon *d, struct datapath *dp, const struct config *cfg)
{
    return (struct action_parts){.show = &d->shown,
                                 .registrar = d->registrar,
                                 .static_jobs = &d->static_jobs,
                                 .port = dp->port,
                                 .bridge = dp->bridge,
                                 .long_buffers = dp->long_buffers,
                                 .seed = cfg->seed,
                                 .rcu = dp->rcu};
}

static int start(struct daemon *d, struct datapath *dp, const struct config *cfg)
{
    int rc = open_registrar(d, dp, cfg);

    if (rc == 0)
        rc = open_control(d, dp, cfg);
    if (rc == 0)
        rc = open_static_jobs(d, dp, cfg);
    d->shown = shown(d, dp, cfg);
    d->changed = changed(d, dp, cfg);
    if (rc == 0)
        rc = telemetry_start(&d->shown);
    if (rc == 0)
        rc = operators_start(&d->operators, &d->changed, &d->handoff, &cfg->control);
    if (rc == 0)
        rc = datapath_start(dp);
    if (rc == 0)
        banner_ready(&d->shown);
    return rc;
}

int daemon_run(struct datapath *dp, const struct config *cfg)
{
    struct daemon d = {0};
    int rc = handoff_open(&d.handoff);

    if (rc < 0) {
        log_error("cannot set up the way from operators to the main thread: %s", strerror(-rc));
        return rc;
    }
    rc = start(&d, dp, cfg);
    if (rc == 0)
        rc = control_run(d.control);
    if (rc > 0) {
        log_notice("stopping: %s", strsignal(rc));
        rc = 0;
    }
    handoff_close(&d.handoff);
    operators_stop(d.operators);
    datapath_stop(dp);
    telemetry_stop();
    static_jobs_close(&d.static_jobs);
    control_close(d.control);
    registrar_close(d.registrar);
    handoff_free(&d.handoff);
    return rc;
}
