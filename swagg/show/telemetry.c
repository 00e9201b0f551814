#include "show/telemetry.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "base/log.h"
#include "show/views.h"

/* Global, since DPDK passes no context to a command, and cannot unregister one. */
static struct {
    pthread_mutex_t lock;    /* held while a command runs, so that what it shows stays */
    struct show_parts parts; /* lcores NULL: stopped */
} shown = {.lock = PTHREAD_MUTEX_INITIALIZER};

static const struct {
    const char *name;
    view_fn *view;
    const char *help;
} commands[] = {
    {"/swagg/info", view_info, "Version, addresses, sizes"},
    {"/swagg/ports", view_ports, "Names of the ports"},
    {"/swagg/port", view_port, "Device, link, frames of a port. Parameter: its name"},
    {"/swagg/drops", view_drops, "Dropped frames by reason. Optional parameter: a port's name"},
    {"/swagg/counters", view_counters, "What was done with the other frames"},
    {"/swagg/verdicts", view_verdicts, "What became of gradient packets"},
    {"/swagg/mac", view_mac, "Stations and the ports they were heard on"},
    {"/swagg/lcores", view_lcores, "Polling lcores"},
    {"/swagg/lcore", view_lcore, "Tasks and counters of an lcore. Parameter: its number"},
    {"/swagg/jobs", view_jobs, "Jobs and their states"},
    {"/swagg/job", view_job, "Terms and members of a job, lists by rank. Parameter: its name"},
    {"/swagg/slots", view_slots, "Slots of a job that wait for contributions. Parameter: its name"},
};

static int run_command(const char *name, const char *params, struct rte_tel_data *d)
{
    int rc = -ENOENT;

    pthread_mutex_lock(&shown.lock);
    for (unsigned i = 0; i < RTE_DIM(commands) && shown.parts.lcores != NULL; i++)
        if (strcmp(commands[i].name, name) == 0)
            rc = commands[i].view(&shown.parts, params, d);
    pthread_mutex_unlock(&shown.lock);
    return rc;
}

int telemetry_start(const struct show_parts *parts)
{
    shown.parts = *parts;
    for (unsigned i = 0; i < RTE_DIM(commands); i++) {
        int rc = rte_telemetry_register_cmd(commands[i].name, run_command, commands[i].help);

        if (rc < 0) {
            log_error("cannot register the telemetry command %s: %s", commands[i].name, strerror(-rc));
            return rc;
        }
    }
    return 0;
}

void telemetry_stop(void)
{
    pthread_mutex_lock(&shown.lock);
    shown.parts = (struct show_parts){0};
    pthread_mutex_unlock(&shown.lock);
}
