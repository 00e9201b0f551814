/* The job that an operator names, found in the registry of a program whose registry is not the daemon's, and
 * what he is told if there is none.
 *
 * No DPDK. Whoever calls may read the registry meanwhile.
 */
#ifndef SWAGG_OPERATOR_REPLY_JOB_H
#define SWAGG_OPERATOR_REPLY_JOB_H

#include "operator/reply.h"
#include "views/registry_views.h"

/* Several tenants have a job of this name: which they are called. */
void reply_which_job(struct reply *reply, const struct registry_shown *s, const char *name);

/* The job called so; NULL, and the reply says why: name is NULL, there is none, there are several. */
const struct ctl_entry *reply_find_job(struct reply *reply, const struct registry_shown *s, const char *name);

#endif
