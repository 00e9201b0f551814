/* A configuration's file, read anew by a program that runs by it: what is common to all such programs. Errors
 * are logged, with the file's name.
 *
 * Any thread.
 */
#ifndef SWAGG_CONTROL_REREAD_H
#define SWAGG_CONTROL_REREAD_H

#include "config/config_changes.h"

/* Tenants of running that have jobs (bit t of with_jobs: tenant t) stay, and number[t] is what tenant t has
 * in next. 0, or -ENOSPC. */
int reread_keep_tenants(const char *file, struct config *next, const struct config *running,
                        uint64_t with_jobs, int number[CONFIG_TENANTS_MAX]);

/* 0; -EPERM: there are changes that need a restart. */
int reread_check(const char *file, const struct config_changes *changes);

/* Logs what has changed, or that nothing has, for the file is not good (rc < 0). */
void reread_tell(const char *file, const struct config_changes *changes, int rc);

#endif
