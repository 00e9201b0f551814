/* A rank's threads beyond the one that makes its calls. Each has a lane: a job of its own at the same
 * switches, "train-1~thread1", with sockets, slots and a thread that drives it. Of a call that is long enough
 * to be worth a wake-up the job and each lane sum a share, and have nothing in common but its end. All other
 * calls are the job's alone.
 *
 * Locks: the job's may be held while a lane's is taken, never the other way round. */
#pragma once

#include "job.h"

struct lanes {
    pthread_mutex_t order; /* calls come to all lanes in the same order */
    unsigned n;            /* besides the job itself */
    struct swagg_job *lane[CLIENT_THREADS_MAX - 1];
};

/* How many threads of this rank would share calls: options.threads, or as many as the link is worth and the
 * process has CPUs for. 1 where calls cannot be shared. Once the transports are open. */
unsigned lanes_wished(const struct swagg_job *job);

/* The least that any of the job's ranks has wished, by what its switches have granted. */
unsigned lanes_agreed(const struct swagg_job *job);

/* requests_append, to the lanes, too, if they share the call. Any thread. */
int lanes_append(struct swagg_job *job, struct swagg_request *r);

/* Whether all shares of a call are summed that others than the job itself sum. */
bool lanes_are_through(const struct swagg_request *r);

/* Whether a lane cannot sum its share of the oldest call: with which status, and why. With the job's lock. */
bool lanes_failed(struct swagg_job *job, int *status, char text[CTL_TEXT_MAX]);

/* What the driver's clock says of a call that the job itself is done with. False: it is not, or no lane has
 * anything left to sum. True, and *rc: SWAGG_OK, the lanes see to their own deadlines; or the job's failure:
 * a thread has not even done that. With the job's lock. */
bool lanes_are_late(struct swagg_job *job, uint64_t now, int *rc);

/* From here on they share the job's calls, or no more: NULL. They are ended when the job fails. */
void lanes_begin(struct swagg_job *job, struct lanes *l);
