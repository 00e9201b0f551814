/* JOIN: who gets a seat in which job. */
#ifndef SWAGG_CORE_CONTROL_JOIN_H
#define SWAGG_CORE_CONTROL_JOIN_H

#include "control/job.h"

/* A JOIN with good arguments that knows this switch's boot id, from a process that is in no job. */
void ctl_join_anew(struct ctl_registry *r, const struct ctl_endpoint *from, const struct ctl_message *m,
                   uint64_t now);

/* PENDING: the job still lacks somebody, or occupied: it is in the way. */
void ctl_answer_pending(struct ctl_registry *r, const struct ctl_endpoint *to, const struct ctl_head *head,
                        const struct ctl_job *job, bool occupied, uint64_t now);

#endif
