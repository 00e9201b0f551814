/* The operators' thread: answers swaggctl on a socket (docs/configuration.md, "Operating it"), beside the
 * thread that serves workers, which is not held up. What can be asked is up to who starts it. It also keeps
 * the host's history: looks at its jobs once a second, and notes what operators ask for that is no view.
 *
 * No DPDK.
 */
#pragma once

#include <pthread.h>

#include "config/config.h"
#include "history/history.h"
#include "operator/reply.h"
#include "operator/server.h"

struct operators;

/* Who is operated. */
struct operators_host {
    const char *kind; /* "switch", for the log */
    const char *name; /* of this one among others */
    /* Does what the request says, and fills the reply, which is REPLY_OK and else empty, and, if bytes are to
     * follow it, the stream. On the operators' thread. */
    void (*run)(void *context, const struct request *request, struct reply *reply, struct server_feed *feed);
    void *context;
    struct history *history; /* NULL: none is kept */
    struct view_source views;
    /* Starts a thread. 0, or -errno. NULL: as pthread_create does. */
    int (*start_thread)(pthread_t *thread, void *(*main)(void *), void *argument);
};

/* Makes the socket, and starts the thread. *o is NULL if the configuration wants none, or if the default
 * socket cannot be made, which is logged. What host points to outlives it. 0, or -errno after logging. */
int operators_start(struct operators **o, const struct operators_host *host,
                    const struct config_control *cfg);

/* When it returns the thread has ended, and the socket is gone. o may be NULL. */
void operators_stop(struct operators *o);
