#include "operator/operators.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "operator/listener.h"

struct operators {
    struct operators_host host;
    struct listener listener;
    struct server *server;
    pthread_t thread;
    bool stop; /* atomic */
};

static char *answer(void *context, const char *line, size_t bytes, struct server_feed *feed)
{
    const struct operators *o = context;
    struct reply reply = {.code = REPLY_OK};
    struct request request;
    char why[REQUEST_TEXT_MAX];

    if (request_parse(&request, line, bytes, why) < 0) {
        reply_fail(&reply, REPLY_BAD_REQUEST, "%s", why);
    } else {
        o->host.run(o->host.context, &request, &reply, feed);
        request_free(&request);
    }
    return reply_line(&reply, o->host.name);
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
        rc = o->host.start_thread == NULL ? -pthread_create(&o->thread, NULL, run, o)
                                          : o->host.start_thread(&o->thread, run, o);
    if (rc < 0) {
        log_error("cannot start the operators' thread: %s", strerror(-rc));
        server_close(o->server);
        listener_remove(&o->listener);
    }
    return rc;
}

int operators_start(struct operators **out, const struct operators_host *host,
                    const struct config_control *cfg)
{
    struct operators *o = cfg->off ? NULL : calloc(1, sizeof(*o));
    int rc;

    *out = NULL;
    if (cfg->off)
        return 0;
    if (o == NULL)
        return -ENOMEM;
    o->host = *host;
    rc = listener_open(&o->listener, cfg, host->name);
    if (rc == 0)
        rc = start_thread(o);
    if (rc < 0) {
        free(o);
        return cfg->path[0] == '\0' ? 0 : rc; /* nobody asked for this one */
    }
    log_notice("swaggctl reaches this %s at %s", host->kind, o->listener.path);
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
