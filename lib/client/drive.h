/* Moves a job's packets: receives, asks the stream what is to be sent, sends, sleeps; and follows the session
 * through restarts of the switch. */
#pragma once

#include "watch.h"

/* Takes the job's lock for as long as a call lasts, and gives it back. All parts have their streams. */
void drive_lock(struct swagg_job *job);
void drive_unlock(struct swagg_job *job);

/* A call for the streams. */
struct drive_order {
    const struct xfer_call *call;
    struct xfer_segment *segments; /* the caller's, until the call is over */
    size_t n;
    uint64_t began;    /* when the caller's call began, from which on its time counts */
    uint64_t patience; /* without a result for so long it is done with what it has, ns; 0: it waits for all */
};

/* The caller's thread, with the job's lock held. Cuts the call, and returns when it may return: 0, or its
 * status. With a patience it may be in progress still: then it is to be left (struct agg_worker). */
int drive_call(struct swagg_job *job, const struct drive_order *order);

/* The same thread and lock. Returns when the reduces from which this rank has already returned are complete:
 * 0, or a status. */
int drive_buffered(struct swagg_job *job, struct watch *watch);

/* What the membership thread does for the data path while the application is between calls (struct
 * membership_guest): it completes buffered reduces, and after a restart of the switch hands over results that
 * others need. Takes the job's lock if it is free, and waits for no call. Returns when it wants to be called
 * again, in monotonic ns; UINT64_MAX: not before it is woken. */
uint64_t drive_between_calls(void *part);

/* Whether others may still need this rank's packets of this part. Takes the job's lock. */
bool drive_is_needed(struct job_part *part);
