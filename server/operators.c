#include "operators.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "operator/listener.h"
#include "operator/reply.h"
#include "operator/server.h"
#include "show/writer_json.h"
#include "views.h"

struct operators {
    struct ps *ps;
    struct listener listener;
    struct server *server;
    pthread_t thread;
    bool stop; /* atomic */
};

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

static void run_command(struct ps *ps, const struct request *request, struct reply *reply)
{
    const char *name = request_text(request, "name");
    const struct view *view = views_find(request->command);

    if (view != NULL)
        show(ps, view, name, reply);
    else if (!act(ps, request->command, name, reply))
        reply_fail(reply, REPLY_BAD_REQUEST, "a server has no command \"%s\": it switches nothing",
                   request->command);
}

static char *answer(void *context, const char *line, size_t bytes, struct server_stream *stream)
{
    const struct operators *o = context;
    struct reply reply = {.code = REPLY_OK};
    struct request request;
    char why[REQUEST_TEXT_MAX];

    (void)stream; /* nothing is captured here */
    if (request_parse(&request, line, bytes, why) < 0) {
        reply_fail(&reply, REPLY_BAD_REQUEST, "%s", why);
    } else {
        run_command(o->ps, &request, &reply);
        request_free(&request);
    }
    return reply_line(&reply, o->ps->name);
}

static void *run(void *context)
{
    struct operators *o = context;

    while (!__atomic_load_n(&o->stop, __ATOMIC_RELAXED))
        server_round(o->server, -1, clock_ns);
    return NULL;
}

static int start_thread(struct operators *o)
{
    int rc = server_open(&o->server, o->listener.fd, answer, o);

    if (rc == 0)
        rc = -pthread_create(&o->thread, NULL, run, o);
    if (rc < 0) {
        log_error("cannot start the operators' thread: %s", strerror(-rc));
        server_close(o->server);
        listener_remove(&o->listener);
    }
    return rc;
}

int operators_start(struct operators **out, struct ps *ps)
{
    const struct config_control *cfg = &ps->cfg->control;
    struct operators *o = cfg->off ? NULL : calloc(1, sizeof(*o));
    int rc;

    *out = NULL;
    if (cfg->off)
        return 0;
    if (o == NULL)
        return -ENOMEM;
    o->ps = ps;
    rc = listener_open(&o->listener, cfg, ps->name);
    if (rc == 0)
        rc = start_thread(o);
    if (rc < 0) {
        free(o);
        return cfg->path[0] == '\0' ? 0 : rc; /* nobody asked for this one */
    }
    log_notice("swaggctl reaches this server at %s", o->listener.path);
    *out = o;
    return 0;
}

void operators_stop(struct operators *o)
{
    if (o == NULL)
        return;
    __atomic_store_n(&o->stop, true, __ATOMIC_RELAXED);
    server_wake(o->server);
    pthread_join(o->thread, NULL);
    server_close(o->server);
    listener_remove(&o->listener);
    free(o);
}
