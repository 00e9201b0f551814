/* What the worker's side of a membership needs from the job's protocol. Pure. */
#ifndef SWAGG_CORE_PROTOCOL_WORKER_H
#define SWAGG_CORE_PROTOCOL_WORKER_H

#include <stdbool.h>

#include "protocol/terms.h"

struct agg_worker {
    /* Whether a rank with this wish can work under what is granted (untrusted). If so, *progress is where a
     * new job begins, as the protocol counts. */
    bool (*accept)(const struct agg_terms *wish, const struct agg_terms *granted, uint32_t *progress);
    /* After a restart of the switch: the wish of a rank that has come this far in a job with these terms. */
    struct agg_terms (*resume)(const struct agg_terms *granted, uint32_t progress);
};

#endif
