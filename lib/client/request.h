/* A call as the caller made it, and whether it can be made. */
#ifndef SWAGG_CLIENT_REQUEST_H
#define SWAGG_CLIENT_REQUEST_H

#include "job.h"

struct request {
    enum sml_collective collective;
    int type, op, root; /* unchecked */
    const struct swagg_segment *segments;
    size_t n;
    bool is_vector; /* the caller speaks of segments */
    bool is_exact;  /* it is not compressed, whatever the options say */
    uint64_t count; /* elements of all; request_check fills it in */
};

/* SWAGG_OK; SWAGG_ERR_ARGUMENT, with a text that names what is wrong; or SWAGG_ERR_SYSTEM, and the job cannot
 * go on. */
int request_check(struct swagg_job *job, struct request *r);

#endif
