#include "show/telemetry.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "show/telemetry_answer.h"
#include "show/views.h"

#define PREFIX "/swagg/"

/* Global, since DPDK passes no context to a command, and cannot unregister one. */
static struct {
    pthread_mutex_t lock;    /* held while a command runs, so that what it shows stays */
    struct show_parts parts; /* lcores NULL: stopped */
} shown = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Nothing is shown of what there is not. */
static int answer(const struct view *view, const char *params, struct rte_tel_data *d)
{
    json_t *object, *counters;
    struct view_out out;
    int rc;

    view_lock(&shown.parts);
    rc = view_gather(&shown.parts, view, view->of == VIEW_OF_ALL ? NULL : params, &out);
    view_unlock(&shown.parts);
    if (view_end(&out, &object, &counters) < 0)
        return -ENOMEM;
    if (rc == 0)
        telemetry_answer(d, view, object);
    json_decref(object);
    json_decref(counters);
    return rc;
}

static int run_command(const char *name, const char *params, struct rte_tel_data *d)
{
    const struct view *view = views_find(name + strlen(PREFIX));
    int rc = -ENOENT;

    pthread_mutex_lock(&shown.lock);
    if (shown.parts.lcores != NULL && view != NULL)
        rc = answer(view, params, d);
    pthread_mutex_unlock(&shown.lock);
    return rc;
}

static int register_view(const struct view *view)
{
    static const char *const parameter[] = {"", ". Parameter: its name", ". Optional parameter: its name"};
    char name[64], help[128];
    int rc;

    snprintf(name, sizeof(name), PREFIX "%s", view->name);
    snprintf(help, sizeof(help), "%s%s", view->help,
             parameter[view->of == VIEW_OF_ALL ? 0 : 1 + view->optional]);
    rc = rte_telemetry_register_cmd(name, run_command, help);
    if (rc < 0)
        log_error("cannot register the telemetry command %s: %s", name, strerror(-rc));
    return rc;
}

int telemetry_start(const struct show_parts *parts)
{
    int rc = 0;

    shown.parts = *parts;
    for (unsigned i = 0; i < VIEWS && rc == 0; i++)
        rc = register_view(&views[i]);
    return rc;
}

void telemetry_stop(void)
{
    pthread_mutex_lock(&shown.lock);
    shown.parts = (struct show_parts){0};
    pthread_mutex_unlock(&shown.lock);
}
