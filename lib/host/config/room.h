/* Whether there is room for a job's pool: the quotas of the configuration on all jobs, on one job, on those
 * of a tenant and on those founded from one host.
 *
 * Pure, any thread.
 */
#pragma once

#include "config/config.h"
#include "protocol/protocol.h"

/* A running job, and what it holds. */
struct room_job {
    const char *name;
    int tenant;       /* by number; -1: nobody's */
    uint32_t founder; /* the IP address that it was founded from; 0: nobody's */
    uint64_t slots, bytes;
};

/* What there is for all jobs; 0: no quota, but for bytes. */
struct room {
    const char *whose;    /* "the switch" */
    uint64_t bytes, held; /* of memory; held, too, by pools that are still to be freed */
    uint64_t slots, bytes_a_job;
    unsigned tenants;
    const struct config_tenant *tenant; /* by number */
    unsigned jobs;
    const struct room_job *job;
};

/* Whether there is room for another job that holds as much. founder: 0: whoever founded it, it counts against
 * no host. If there is none, text, unless NULL, says which quota has none and who holds that. */
bool room_for(const struct room *room, const struct room_job *asked, char text[AGG_TEXT_MAX]);
