#include "commands.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "operator/hearing.h"
#include "operator/log_level.h"
#include "operator/reply_changes.h"
#include "operator/reply_job.h"
#include "ps_reload.h"
#include "views.h"
#include "views/writer_json.h"

static void show(struct ps *ps, const struct view *view, const char *name, struct reply *reply)
{
    const struct ctl_entry *job = NULL;
    struct registry_shown jobs;
    struct writer_json w;

    writer_json_init(&w);
    pthread_mutex_lock(&ps->lock);
    jobs = views_registry(ps);
    if (view->of_job)
        job = reply_find_job(reply, &jobs, name);
    if (job != NULL || !view->of_job)
        view->write(ps, job, &w.writer);
    pthread_mutex_unlock(&ps->lock);
    if (writer_json_take(&w, &reply->view, &reply->counters) < 0)
        reply_fail(reply, REPLY_FAILED, "no memory for the answer");
}

static void change_job(struct ps *ps, const char *name, struct reply *reply,
                       bool (*change)(struct ctl_registry *, int, const char *, uint64_t))
{
    const struct ctl_entry *job;
    struct registry_shown jobs;

    pthread_mutex_lock(&ps->lock);
    jobs = views_registry(ps);
    job = reply_find_job(reply, &jobs, name);
    if (job != NULL && !change(ps->registry, job->tenant, job->name, ps->now))
        reply_fail(reply, REPLY_REFUSED, "job %s is over already", job->name);
    pthread_mutex_unlock(&ps->lock);
}

static void kill_job(struct ps *ps, const struct request *request, struct reply *reply)
{
    change_job(ps, request_text(request, "name"), reply, ctl_registry_end);
}

static void drain_job(struct ps *ps, const struct request *request, struct reply *reply)
{
    change_job(ps, request_text(request, "name"), reply, ctl_registry_drain);
}

static void set_log_level(struct ps *ps, const struct request *request, struct reply *reply)
{
    pthread_mutex_lock(&ps->lock);
    if (log_level_set(request, reply)) /* a reload then says that it changes it */
        ps->cfg->log_level = (enum config_log_level)log_get_level();
    pthread_mutex_unlock(&ps->lock);
}

static void reload(struct ps *ps, const struct request *request, struct reply *reply)
{
    struct config_changes *changes = malloc(sizeof(*changes));
    char why[REQUEST_TEXT_MAX];
    struct hearing h;
    int rc = -ENOMEM;

    (void)request;
    hearing_begin(&h, why);
    if (changes != NULL)
        rc = ps_reload(ps, changes);
    hearing_end(&h);
    if (rc == 0)
        reply_changes(reply, changes);
    else
        reply_fail(reply, REPLY_REFUSED, "%s", changes == NULL ? "no memory" : why);
    free(changes);
}

static const struct {
    const char *name;
    void (*run)(struct ps *ps, const struct request *request, struct reply *reply);
} actions[] = {
    {"job drain", drain_job},
    {"job kill", kill_job},
    {"log level", set_log_level},
    {"reload", reload},
};
enum { ACTIONS = sizeof(actions) / sizeof(actions[0]) };

static void refuse(const struct request *request, struct reply *reply)
{
    char there[REQUEST_TEXT_MAX / 2];
    size_t used = views_names(there, sizeof(there));

    for (unsigned i = 0; i < ACTIONS && used < sizeof(there); i++)
        used += (size_t)snprintf(there + used, sizeof(there) - used, ", %s", actions[i].name);
    reply_fail(reply, REPLY_BAD_REQUEST, "a server has no command \"%s\"; there are: %s", request->command,
               there);
}

void commands_run(void *context, const struct request *request, struct reply *reply,
                  struct server_stream *stream)
{
    struct ps *ps = context;
    const struct view *view = views_find(request->command);

    (void)stream; /* nothing is captured here */
    if (view != NULL) {
        show(ps, view, request_text(request, "name"), reply);
        return;
    }
    for (unsigned i = 0; i < ACTIONS; i++)
        if (strcmp(actions[i].name, request->command) == 0) {
            actions[i].run(ps, request, reply);
            return;
        }
    refuse(request, reply);
}
