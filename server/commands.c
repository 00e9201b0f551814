#include "commands.h"

#include <errno.h>
#include <string.h>

#include "show/writer_json.h"
#include "views.h"

static void show(struct ps *ps, const struct view *view, const char *name, struct reply *reply)
{
    struct writer_json w;
    int rc;

    writer_json_init(&w);
    pthread_mutex_lock(&ps->lock);
    rc = view->write(ps, name, &w.writer);
    pthread_mutex_unlock(&ps->lock);
    if (writer_json_take(&w, &reply->view, &reply->counters) < 0)
        reply_fail(reply, REPLY_FAILED, "no memory for the answer");
    else if (rc == -EINVAL)
        reply_fail(reply, REPLY_BAD_REQUEST, "which job? `swaggctl jobs` lists them");
    else if (rc < 0)
        reply_fail(reply, REPLY_UNKNOWN, "there is no job %s; `swaggctl jobs` lists them", name);
}

/* End, or let come to its end, the job that the request names. */
static bool act(struct ps *ps, const char *command, const char *name, struct reply *reply)
{
    const bool kill = strcmp(command, "job kill") == 0;
    bool done;

    if (!kill && strcmp(command, "job drain") != 0)
        return false;
    if (name == NULL) {
        reply_fail(reply, REPLY_BAD_REQUEST, "which job? `swaggctl jobs` lists them");
        return true;
    }
    pthread_mutex_lock(&ps->lock);
    done = (kill ? ctl_registry_end : ctl_registry_drain)(ps->registry, 0, name, ps->now);
    pthread_mutex_unlock(&ps->lock);
    if (!done)
        reply_fail(reply, REPLY_UNKNOWN, "there is no job %s that lives", name);
    return true;
}

void commands_run(void *context, const struct request *request, struct reply *reply,
                  struct server_stream *stream)
{
    struct ps *ps = context;
    const char *name = request_text(request, "name");
    const struct view *view = views_find(request->command);

    (void)stream; /* nothing is captured here */
    if (view != NULL)
        show(ps, view, name, reply);
    else if (!act(ps, request->command, name, reply))
        reply_fail(reply, REPLY_BAD_REQUEST, "a server has no command \"%s\": it switches nothing",
                   request->command);
}
