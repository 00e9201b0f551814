/* A static job at the switch: as the daemon's control/static_jobs.c and aggregate/jobs.c, around the
 * real pool. */
#pragma once

#include "published.h"

struct static_job {
    const struct published_config *cfg;
    struct agg_job *job; /* NULL: the switch is down */
    struct agg_pool_config pool;
    bool worked; /* something was heard since it started over */
    uint64_t heard_at;
    uint64_t runs; /* how often it has started over */
};

/* Makes it, under this number, and makes its members known. */
void static_job_open(struct static_job *f, struct agg_jobs *jobs, const struct agg_protocol *protocol,
                     const struct published_config *cfg, uint8_t number, uint64_t now);
void static_job_close(struct static_job *f, struct agg_jobs *jobs);

/* It starts over once it has been quiet. True: it just has. */
bool static_job_tick(struct static_job *f, uint64_t now);
