/* What an operator can change of a switch, beside common_commands.h: one table, like that of the views
 * (show/views.h).
 *
 * Threads: an action runs on the main lcore.
 */
#pragma once

#include "lcore/lcores.h"
#include "operator/common_commands.h"
#include "operator/handoff.h"
#include "show/views.h"

struct reload;

/* Has the switch have a port, or a job that nobody joins, more or less (reload.h): 0, or -errno after logging
 * why not, and nothing has changed. */
struct reloading {
    int (*add_port)(struct reload *r, const struct config_port *port);
    int (*delete_port)(struct reload *r, const char *name);
    int (*add_job)(struct reload *r, const struct config *alone, const char *name);
    int (*delete_job)(struct reload *r, const char *name);
    struct reload *reload;
};

/* What is changed; all of it outlives the operators' thread. */
struct action_parts {
    const struct show_parts *show;
    struct handoff *main;      /* where actions are run */
    struct common_host common; /* for what every host does */
    struct static_jobs *static_jobs;
    struct port *port; /* those of show */
    struct bridge *bridge;
    struct rte_rcu_qsbr *rcu; /* where polling lcores report that they hold nothing */
    struct impairing impairing;
    struct reloading reloading;
};

/* What an operator asks for. */
struct action_call {
    const struct action_parts *parts;
    const struct request *request;
    const char *name; /* that the action is about; NULL: none was given, or the action takes none */
    struct reply *reply;
};

/* Fills the reply if it fails. */
typedef void action_fn(const struct action_call *c);

struct action {
    const char *name; /* the request's command */
    action_fn *run;
    enum view_subject of; /* what "name" names, which is checked before */
    bool optional;        /* it may be left out */
};

/* NULL: there is none of this name. */
const struct action *actions_find(const char *name);
