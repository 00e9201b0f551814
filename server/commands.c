#include "commands.h"

#include <stdio.h>

#include "operator/common_commands.h"
#include "operator/reply_job.h"
#include "views.h"

static void show(struct ps *ps, const struct view *view, const char *name, struct reply *reply)
{
    const struct ctl_entry *job = NULL;
    struct registry_shown jobs;
    struct view_out out;

    view_begin(&out, view);
    pthread_mutex_lock(&ps->common.lock);
    jobs = registry_host_shown(&ps->common);
    if (view->of == VIEW_OF_JOB)
        job = reply_find_job(reply, &jobs, name);
    if (job != NULL || view->of != VIEW_OF_JOB)
        ps_view(view)(ps, job, &out);
    pthread_mutex_unlock(&ps->common.lock);
    reply_view(reply, &out);
}

/* A command on its way to the main thread. */
struct errand {
    struct ps *ps;
    const struct common_command *command;
    const struct request *request;
    struct reply *reply;
};

static void run_errand(void *argument)
{
    const struct errand *e = argument;
    const struct common_host host = {&e->ps->common, &e->ps->reload};
    const struct registry_shown jobs = registry_host_shown(&e->ps->common);
    const struct ctl_entry *found = NULL;
    struct common_job job = {0};

    if (e->command->of_job) {
        found = reply_find_job(e->reply, &jobs, request_text(e->request, "name"));
        if (found == NULL)
            return;
        job = (struct common_job){.called = found->name, .name = found->name, .tenant = found->tenant};
    }
    e->command->run(&host, &job, e->request, e->reply);
}

static void refuse(const struct request *request, struct reply *reply)
{
    char there[REQUEST_TEXT_MAX / 2];
    size_t used = ps_views_list(there, sizeof(there));

    for (unsigned i = 0; i < COMMON_COMMANDS && used < sizeof(there); i++)
        used += (size_t)snprintf(there + used, sizeof(there) - used, ", %s", common_commands[i].name);
    reply_fail(reply, REPLY_BAD_REQUEST, "a server has no command \"%s\"; there are: %s", request->command,
               there);
}

void commands_run(void *context, const struct request *request, struct reply *reply, struct server_feed *feed)
{
    struct ps *ps = context;
    const struct view *view = views_find(request->command);
    struct errand errand = {ps, common_command_find(request->command), request, reply};

    (void)feed; /* nothing is captured here */
    if (view != NULL && ps_view(view) != NULL)
        show(ps, view, request_text(request, "name"), reply);
    else if (errand.command == NULL)
        refuse(request, reply);
    else if (!handoff_call(&ps->handoff, run_errand, &errand))
        reply_fail(reply, REPLY_FAILED, "the server is stopping");
}
