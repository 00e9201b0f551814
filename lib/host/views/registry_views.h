/* Views of jobs that workers have joined, for programs whose registry is not the daemon's. Whoever calls may
 * read the registry meanwhile. No DPDK.
 *
 * A job is called by its name, or where several tenants have one of that name by TENANT/NAME.
 */
#pragma once

#include "control/registry.h"
#include "protocol/jobs.h"
#include "views/view.h"

struct registry_shown {
    const struct ctl_registry *registry;
    unsigned entries;                 /* of the registry */
    const struct ctl_tenant *tenants; /* by number; NULL: jobs are nobody's in particular */
    uint64_t now;                     /* by the registry's clock */
};

enum { REGISTRY_CALL_MAX = 2 * CTL_NAME_MAX };

/* 0; -ENOENT: there is no such job; -ENOTUNIQ: several tenants have one. Of several of one tenant it is one
 * that lives. */
int registry_find(const struct registry_shown *s, const char *called, const struct ctl_entry **found);

/* Calls visit with TENANT/NAME of each job of this name. */
void registry_calls(const struct registry_shown *s, const char *name,
                    void (*visit)(void *context, const char *call), void *context);

/* What views of jobs, of one and of its ranks tell of jobs that workers have joined. */
void registry_show_jobs(const struct registry_shown *s, struct view_out *out);

/* running: the job as its pool has it; NULL: it does not run, or others hold its slots. */
void registry_show_job(const struct registry_shown *s, const struct ctl_entry *job,
                       const struct agg_job *running, struct view_out *out);
void registry_show_ranks(const struct registry_shown *s, const struct ctl_entry *job,
                         const struct agg_job *running, struct view_out *out);
