/* Room kept for jobs that are not there yet (config/reserved.h), on a host that jobs join. Part of
 * registry_host.h: all is under its lock (registry_host_enter), and its thread's, but for
 * registry_show_reserved, which any may call that has the lock.
 */
#pragma once

#include "registry/registry_host.h"

/* ctl_registry_actions.kept. */
unsigned registry_kept(void *host, int tenant, const char *name, bool of_tenant);

/* Whether a job that goes on to a switch above, and so is none of the registry's, may have a place here
 * beside the others: within its tenant's quota, and besides what is kept. False: text says why not. */
bool registry_admits(const struct registry_host *h, const struct ctl_entry *job, char text[CTL_TEXT_MAX]);

/* Keeps room for seconds. wanted: what its job is to have; bytes and until are filled in here. False: there
 * is none, or the next start would not know of it; text says why. */
bool registry_reserve(struct registry_host *h, const struct reservation *wanted, uint32_t seconds,
                      char text[AGG_TEXT_MAX]);

/* False: there is no reservation of this name. kept: as reserved_file_write; below 0, the next start has it
 * again. */
bool registry_release(struct registry_host *h, const char *name, int *kept);

/* They have changed: the next start is to know them. As reserved_file_write. */
int registry_reserved_keep(const struct registry_host *h);

/* Drops those whose time is over. */
void registry_expire(struct registry_host *h);

void registry_show_reserved(const struct registry_host *h, struct view_out *out);
