/* The registry's private state. */
#pragma once

#include "control/actions.h"
#include "control/guard.h"

#define CTL_MS UINT64_C(1000000)
#define FORMING_LOST_AFTER                                                                                   \
    (5 * CTL_JOIN_INTERVAL_MAX_MS * CTL_MS) /* the least lost_after of a job that is FORMING */

struct ctl_registry {
    struct ctl_registry_config cfg;
    uint64_t ticked_at;      /* 0: never */
    uint64_t back_at;        /* since then it was called without long gaps */
    uint64_t old_jobs_until; /* jobs from before a restart go first until then; 0: not started */
    uint64_t expected_until; /* a rank of such a job was heard; it is expected to join again until then */
    uint64_t preparations;   /* counts pools that were asked for */
    struct ctl_guard guard;
    struct ctl_entry entries[];
};
