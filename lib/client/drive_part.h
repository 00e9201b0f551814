/* What drives one part of a job (drive.h): its packets, its descriptors, its session through restarts of the
 * switch. Called with the job's lock held. Return 0 or more, or the job's failure. */
#ifndef SWAGG_CLIENT_DRIVE_PART_H
#define SWAGG_CLIENT_DRIVE_PART_H

#include "job.h"

/* Receives and sends, both without waiting; returns how many packets came. */
int drive_part_exchange(struct job_part *part);

/* Acts on changes of the session. */
int drive_part_follow(struct job_part *part);

/* The application may have closed our descriptors. Checked before each call: what it sends and receives by.
 * The others are checked while it lasts, and by the membership thread before it uses them. */
int drive_part_check_socket(struct job_part *part);
int drive_part_check(struct job_part *part);

#endif
