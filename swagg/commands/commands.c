#include "commands/commands.h"

#include <errno.h>
#include <string.h>

#include "commands/capture.h"
#include "show/views.h"

static void add_choice(void *context, const char *call)
{
    json_array_append_new(context, json_string(call));
}

/* Several tenants have a job of this name. */
static void ask_which(const struct show_parts *parts, const char *name, struct reply *reply)
{
    char calls[REQUEST_TEXT_MAX / 2] = "";
    json_t *choices = json_array(), *call;
    size_t i, used = 0;

    view_lock(parts);
    view_job_calls(parts, name, add_choice, choices);
    view_unlock(parts);
    json_array_foreach (choices, i, call) {
        if (used < sizeof(calls))
            used += (size_t)snprintf(calls + used, sizeof(calls) - used, "%s%s", i > 0 ? ", " : "",
                                     json_string_value(call));
    }
    reply_fail(reply, REPLY_AMBIGUOUS, "several tenants have a job %s; say which: %s", name, calls);
    reply->choices = choices;
}

static void unknown_subject(const struct show_parts *parts, enum view_subject subject, const char *name,
                            struct reply *reply)
{
    char names[512];

    view_lock(parts);
    view_subject_list(parts, subject, names, sizeof(names));
    view_unlock(parts);
    if (name == NULL)
        reply_fail(reply, REPLY_BAD_REQUEST, "which %s? There are: %s", view_subject_name(subject), names);
    else
        reply_fail(reply, REPLY_UNKNOWN, "there is no %s %s; there are: %s", view_subject_name(subject), name,
                   names);
}

static void show(const struct show_parts *parts, const struct view *view, const char *name,
                 struct reply *reply)
{
    struct view_out out;
    int rc;

    if (name == NULL && !view->optional) {
        unknown_subject(parts, view->of, NULL, reply);
        return;
    }
    view_lock(parts);
    rc = view_gather(parts, view, name, &out);
    view_unlock(parts);
    reply_view(reply, &out);
    if (rc == -ENOTUNIQ)
        ask_which(parts, name, reply);
    else if (rc < 0)
        unknown_subject(parts, view->of, name, reply);
}

static int find(const struct show_parts *parts, enum view_subject subject, const char *name)
{
    int found;

    view_lock(parts);
    found = view_subject_find(parts, subject, name);
    view_unlock(parts);
    return found;
}

/* An action on its way to the main lcore. */
struct errand {
    const struct action_parts *parts;
    const struct action *action;         /* or */
    const struct common_command *common; /* one of all hosts' */
    enum view_subject of;
    const struct request *request;
    const char *name;
    struct reply *reply;
};

static void run_common(const struct errand *e)
{
    struct common_job job = {.called = e->name};
    struct view_job found;

    if (e->common->of_job && view_find_job(e->parts->show, e->name, &found) == 0) {
        job.name = found.name;
        job.tenant = found.tenant;
        job.fixed = found.fixed != NULL;
    }
    e->common->run(&e->parts->common, &job, e->request, e->reply);
}

/* On the main lcore, so that what the action is about does not go away meanwhile. */
static void run_errand(void *argument)
{
    const struct errand *e = argument;
    const bool optional = e->action != NULL ? e->action->optional : !e->common->of_job;
    const int found = e->name == NULL ? 0 : find(e->parts->show, e->of, e->name);

    if (found == -ENOTUNIQ)
        ask_which(e->parts->show, e->name, e->reply);
    else if (e->name == NULL ? !optional : found < 0)
        unknown_subject(e->parts->show, e->of, e->name, e->reply);
    else if (e->action != NULL)
        e->action->run(e->parts, e->request, e->name, e->reply);
    else
        run_common(e);
}

void commands_run(void *context, const struct request *request, struct reply *reply, struct server_feed *feed)
{
    const struct commands *c = context;
    const struct action_parts *parts = c->parts;
    const struct view *view = views_find(request->command);
    struct errand errand = {.parts = parts,
                            .action = actions_find(request->command),
                            .common = common_command_find(request->command),
                            .request = request,
                            .name = request_text(request, "name"),
                            .reply = reply};

    errand.of = view != NULL                                     ? view->of
                : errand.action != NULL                          ? errand.action->of
                : errand.common != NULL && errand.common->of_job ? VIEW_OF_JOB
                                                                 : VIEW_OF_ALL;
    if (strcmp(request->command, "capture") == 0) {
        view_lock(parts->show);
        capture_open(parts, request, reply, feed);
        view_unlock(parts->show);
    } else if (view == NULL && errand.action == NULL && errand.common == NULL)
        reply_fail(reply, REPLY_BAD_REQUEST, "the switch knows no command \"%s\"", request->command);
    else if (errand.name != NULL && errand.of == VIEW_OF_ALL)
        reply_fail(reply, REPLY_BAD_REQUEST, "%s takes no name", request->command);
    else if (view != NULL)
        show(parts->show, view, errand.name, reply);
    else if (!handoff_call(c->main, run_errand, &errand))
        reply_fail(reply, REPLY_FAILED, "the switch is stopping");
}
