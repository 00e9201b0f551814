/* A host that sums what its workers send, without a switch that would: the same packets and the same sums as
 * with one (hostagg/pool.h), over a socket. What in-network aggregation is compared with. One thread. */
#ifndef SWAGG_TRAFFIC_SAMPLES_SUMMING_H
#define SWAGG_TRAFFIC_SAMPLES_SUMMING_H

#include "samples/datagrams.h"
#include "samples/job.h"

struct summing {
    struct hag_pool *pool;
    const struct job_options *job;
    struct sockaddr_in *worker; /* by number: where it was last heard; port 0: not yet */
    struct datagrams *in, *out;
    uint64_t gradients, sums; /* packets received, chunks summed */
};

/* False: no memory. fd: a socket of datagrams.h. */
bool summing_init(struct summing *s, const struct job_options *job, int fd);
void summing_free(struct summing *s);

/* Takes what has been received, and answers. False: an error, which was complained of. */
bool summing_step(struct summing *s);

#endif
