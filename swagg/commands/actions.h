/* What an operator can change: one table, like that of the views (show/views.h).
 *
 * Threads: an action runs on the main lcore.
 */
#ifndef SWAGG_OPERATOR_ACTIONS_H
#define SWAGG_OPERATOR_ACTIONS_H

#include "config/config_changes.h"
#include "lcore/impairing.h"
#include "operator/reply.h"
#include "show/views.h"

/* Has the switch become what its configuration's file says now, or have a port more, or less (reload.h).
 * False: it says why not, and nothing has changed. */
struct reloading {
    bool (*reload)(void *context, struct config_changes *changes, char why[REQUEST_TEXT_MAX]);
    bool (*add_port)(void *context, const struct config_port *port, char why[REQUEST_TEXT_MAX]);
    bool (*delete_port)(void *context, const char *name, char why[REQUEST_TEXT_MAX]);
    void *context;
};

/* What is changed; all of it outlives the operators' thread. */
struct action_parts {
    const struct show_parts *show;
    struct registrar *registrar;
    struct static_jobs *static_jobs;
    struct port *port; /* those of show */
    struct bridge *bridge;
    struct config *running;   /* the configuration as it is now, also by what operators have changed */
    struct rte_rcu_qsbr *rcu; /* where polling lcores report that they hold nothing */
    struct impairing impairing;
    struct reloading reloading;
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
};

/* NULL: there is none of this name. */
const struct action *actions_find(const char *name);

#endif
