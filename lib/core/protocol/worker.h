/* What a worker's membership asks of the protocol that it is going to speak. Pure. */
#ifndef SWAGG_CORE_PROTOCOL_WORKER_H
#define SWAGG_CORE_PROTOCOL_WORKER_H

#include <stdbool.h>

#include "protocol/terms.h"

struct agg_worker {
    /* Whether this rank, which has wished so, can work on what is granted (untrusted). If so, *progress is
     * where a job that is new begins, as the protocol counts. */
    bool (*accept)(const struct agg_terms *wish, const struct agg_terms *granted, uint32_t *progress);
    /* The wish of a rank that is so far in a job which was granted this, after a restart of the switch. */
    struct agg_terms (*resume)(const struct agg_terms *granted, uint32_t progress);
};

#endif
