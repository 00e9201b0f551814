/* What a job does about its links as links/links.h decides: places move to other switches, and back; the
 * program is told, and notices nothing. The job of place 2 at another switch is "train-1~link2".
 *
 * Whoever has a call's sum may be needed by one who lacks some of it when a link fails. So a rank that closes
 * the job stays until all ranks have finished what it has finished, as any of its switches knows by their
 * heartbeats.
 *
 * With the job's lock. */
#pragma once

#include "job.h"

/* What this rank sees of its links. */
void links_see(struct swagg_job *job, struct links_seen seen[LINKS_MAX]);

/* Whether the part's session, which has failed so, ends no more than the use of a link. */
bool links_outlive(const struct job_part *part, const struct ctl_session *session);

/* Ranks have agreed that all of them have these standbys, by node (0: none in common): such links are used
 * again. SWAGG_OK, or the job's failure. */
int links_agreed(struct swagg_job *job, const uint32_t standby[]);

/* The part's session has ended, for the others have moved back, or that of a link that is lost: SWAGG_OK, or
 * the job's failure. links_outlive. */
int links_follow(struct job_part *part, const struct ctl_session *session);

/* Gives up a link that has been silent for too long, if there is one. To be called often while calls are in
 * flight, and now and then between them. SWAGG_OK, or the job's failure. */
int links_look(struct swagg_job *job, uint64_t now);
