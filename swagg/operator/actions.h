/* What an operator can change: one table, like that of the views (show/views.h).
 *
 * Threads: an action runs on the main lcore.
 */
#ifndef SWAGG_OPERATOR_ACTIONS_H
#define SWAGG_OPERATOR_ACTIONS_H

#include "operator/reply.h"
#include "show/views.h"

/* What is changed; all of it outlives the operators' thread. */
struct action_parts {
    const struct show_parts *show;
    struct registrar *registrar;
    struct static_jobs *static_jobs;
    struct port *port; /* as many as show->ports */
    struct bridge *bridge;
    struct rte_mempool *long_buffers; /* of frames that came merged; NULL: none are carried so */
    uint64_t seed;                    /* of impairments */
    struct rte_rcu_qsbr *rcu;         /* where polling lcores report that they hold nothing */
};

/* name: that the action is about; NULL: none was given, or the action takes none. Fills the reply if it
 * fails. */
typedef void action_fn(const struct action_parts *parts, const struct request *request, const char *name,
                       struct reply *reply);

struct action {
    const char *name; /* the request's command */
    action_fn *run;
    enum view_subject of; /* what "name" names, which is checked before */
    bool optional;        /* it may be left out */
    action_fn
        *then; /* on the operators' thread, once no polling lcore has what it had before; NULL: nothing */
};

/* NULL: there is none of this name. */
const struct action *actions_find(const char *name);

#endif
