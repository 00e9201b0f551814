/* Jobs that nobody joins which come while a host runs, beside those of ranks that have joined, or are about
 * to.
 *
 * Threads: the one that changes the registry.
 */
#pragma once

#include "registry/registry_host.h"

/* No packet may belong to two jobs. 0, or -EBUSY after logging: a rank sends from a UDP port of the job's. */
int registry_check_senders(struct registry_host *h, const struct config_static *job);

/* A job that an operator adds is one more of its tenant's. next: the configuration with it. 0, or -EDQUOT
 * after logging: its tenant's quota.jobs has no place for it. */
int registry_check_quota(struct registry_host *h, const struct config *next, const char *name);
