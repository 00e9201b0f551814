/* Moves a job's packets: receives, asks the stream what is to be sent, sends, sleeps; and follows the session
 * through restarts of the switch. The thread that does so is the job's driver, one at a time: whoever waits
 * for a call, or the job's progress thread. */
#pragma once

#include "job.h"

/* Takes the job's lock for as long as a thread drives, and gives it back: to the membership threads, which
 * see to what others need; or for a moment, in which nobody does. All parts have their streams. */
void drive_lock(struct swagg_job *job);
void drive_unlock(struct swagg_job *job);
void drive_pause(struct swagg_job *job);

/* The rest has the lock. Whether the driver may stop. */
typedef bool drive_over_fn(struct swagg_job *job, void *ctx);

/* Begins and ends calls (calls.h) until it may stop: 0, or the job's failure, which all in flight have ended
 * with. */
int drive_until(struct swagg_job *job, drive_over_fn *over, void *ctx);

/* One round of that, which does not sleep. */
int drive_once(struct swagg_job *job);

/* Returns when the reduces from which this rank has already returned are complete: 0, or a status. No call is
 * in flight. */
int drive_buffered(struct swagg_job *job);

/* Of a job with links, in which this rank makes no more calls: returns true when all ranks have finished
 * those that it has finished. False: the job has failed, or options.call_timeout_ms are over. */
bool drive_to_the_end(struct swagg_job *job);

/* What the membership thread does for the data path while nobody drives (struct membership_guest): it
 * completes buffered reduces, goes on with posted calls, and after a restart of the switch hands over results
 * that others need. Takes the job's lock if it is free, and waits for no driver. Returns when it wants to be
 * called again, in monotonic ns; UINT64_MAX: not before it is woken. */
uint64_t drive_between_calls(void *part);

/* Whether others may still need this rank's packets of this part. Takes the job's lock. */
bool drive_is_needed(struct job_part *part);
