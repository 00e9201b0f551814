/* What an operator can change of a switch, beside common_commands.h: one table, like that of the views
 * (show/views.h).
 *
 * Threads: an action runs on the main lcore.
 */
#pragma once

#include "lcore/lcores.h"
#include "operator/common_commands.h"
#include "show/views.h"

/* Has the switch have a port or a static job more, or less (reload.h). False: it says why not, and nothing
 * has changed. */
struct reloading {
    bool (*add_port)(void *context, const struct config_port *port, char why[REQUEST_TEXT_MAX]);
    bool (*delete_port)(void *context, const char *name, char why[REQUEST_TEXT_MAX]);
    bool (*add_job)(void *context, const struct config_static *job, char why[REQUEST_TEXT_MAX]);
    bool (*delete_job)(void *context, const char *name, char why[REQUEST_TEXT_MAX]);
    void *context;
};

/* What is changed; all of it outlives the operators' thread. */
struct action_parts {
    const struct show_parts *show;
    struct common_host common; /* for what every host does */
    struct static_jobs *static_jobs;
    struct port *port; /* those of show */
    struct bridge *bridge;
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
