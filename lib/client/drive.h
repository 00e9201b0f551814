/* Moves a job's packets: receive, let the stream think, send, sleep; and follows the session through restarts
 * of the switch. Everything here is called with the job's lock held, or takes it. */
#ifndef SWAGG_CLIENT_DRIVE_H
#define SWAGG_CLIENT_DRIVE_H

#include "watch.h"

/* Until the call that has begun may return: 0, or its status. */
int drive_call(struct swagg_job *job, struct watch *watch);

/* The same for reduces from which this rank has returned, until they are complete. */
int drive_buffered(struct swagg_job *job, struct watch *watch);

/* A turn of the membership thread (struct membership_guest) while the application is between calls: there may
 * be reduces that are only buffered, and after a restart of the switch others may need what this rank holds.
 */
uint64_t drive_between_calls(void *job);

/* Whether others may still need this rank's packets. */
bool drive_is_needed(struct swagg_job *job);

#endif
