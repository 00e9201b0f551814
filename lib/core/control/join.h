/* JOIN: who gets a seat in which job. */
#pragma once

#include "control/state.h"

/* A JOIN with good arguments that knows this switch's boot id, from a process of this tenant that is in no
 * job. */
void ctl_join_anew(struct ctl_registry *r, int tenant, const struct ctl_endpoint *from,
                   const struct ctl_message *m, uint64_t now);

/* The same, from a process that this job has recalled (ctl_entry_recall), and that is expected. */
void ctl_join_back(struct ctl_registry *r, struct ctl_entry *job, const struct ctl_endpoint *from,
                   const struct ctl_message *m, uint64_t now);

/* The same, from a process that is in this job, which is not RUNNING yet. */
void ctl_join_again(struct ctl_registry *r, struct ctl_entry *job, const struct ctl_endpoint *from,
                    const struct ctl_message *m, uint64_t now);

/* The job that a member, or nobody, is in for its tenant. By another configuration than when it joined it may
 * be another tenant's: then the others join a job of that one, so it leaves a forming one of the former
 * tenant's for theirs (NULL). */
struct ctl_entry *ctl_join_follow(struct ctl_registry *r, struct ctl_entry *job, unsigned rank, int tenant);
