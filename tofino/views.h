/* Views of a Tofino. One thread. */
#pragma once

#include <jansson.h>

#include "shown.h"
#include "views/declared.h"
#include "views/registry_views.h"

/* What a command is about: one of them, or none. */
struct subject {
    char name[CTL_NAME_MAX];           /* of a job */
    const struct ctl_entry *job;       /* joined; as long as nothing is received */
    const struct config_static *fixed; /* of the configuration */
    const struct config_port *port;    /* of the chip's */
};

/* What a view is made of. */
struct look {
    const struct shown *shown;
    struct registry_shown joined;
    const struct subject *of;
    const json_t *found; /* what the helper has answered (operating.c); NULL: it was asked for nothing */
};

typedef void view_fn(const struct look *l, struct view_out *out);

view_fn view_status, view_memory, view_ports, view_port, view_fdb;
view_fn view_jobs, view_job, view_ranks, view_slots, view_tenants;
view_fn view_drops, view_counters, view_verdicts;
