/* By which addresses members of static jobs are known (struct agg_senders): the table is made anew whenever
 * such a job comes or goes, and replaced as a whole. Threads: the main lcore's.
 */
#ifndef SWAGG_AGGREGATE_JOBS_SENDERS_H
#define SWAGG_AGGREGATE_JOBS_SENDERS_H

#include "aggregate/jobs.h"

/* Publishes the table for the static jobs of this protocol that run now; frees the one before once every
 * lcore has let go of it. 0, or -ENOMEM: nothing has changed. */
int jobs_publish_senders(struct jobs *jobs, unsigned protocol);

/* The static job that packets from this address and UDP port belong to, and the seat of their sender; NULL:
 * none. The sender's MAC address is not looked at. */
const struct job *jobs_of_sender(const struct jobs *jobs, const struct agg_sender *sender,
                                 const struct agg_seat **seat);

/* No lcore runs. */
void jobs_free_senders(struct jobs *jobs);

#endif
