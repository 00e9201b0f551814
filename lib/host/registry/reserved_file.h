/* Reservations (config/reserved.h) that outlive their host: a file in the folder that `state` names. Several
 * hosts may share the folder, so each has a file of its own, called by the address that workers send to.
 * Times are kept by the wall clock, tenants by name. Nothing is done where there is no such folder.
 */
#pragma once

#include "config/reserved.h"

/* Whole or not at all; not waited for until it is on the disk, since whoever reserves must not hold up
 * members of jobs. now: by the clock of until. Returns 0, or -errno; the log has what that means. */
int reserved_file_write(const struct reserved *r, const struct config *cfg, uint64_t now);

/* Fills in those whose time is not over and for which the quotas have room, measured anew, the oldest first;
 * logs which are left out otherwise, and why. Those stay in the file until something else is reserved. A file
 * that is not there has none. */
void reserved_file_read(struct reserved *r, const struct config *cfg, uint64_t now);
