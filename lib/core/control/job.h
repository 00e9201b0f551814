/* The registry's inside: its state, and what can happen to one job. registry.c says when. */
#ifndef SWAGG_CORE_CONTROL_JOB_H
#define SWAGG_CORE_CONTROL_JOB_H

#include "control/registry.h"

#define CTL_MS UINT64_C(1000000)

struct ctl_registry {
    struct ctl_registry_config cfg;
    uint64_t random;
    uint32_t last_epoch;
    uint64_t ticked_at; /* 0: never */
    struct ctl_job jobs[];
};

/* The FORMING or RUNNING job of this name, or NULL. */
struct ctl_job *ctl_job_find(struct ctl_registry *r, const char *name);

/* The job that this process is or was a member of, or NULL. */
struct ctl_job *ctl_job_of(struct ctl_registry *r, const struct ctl_head *head);

/* A FORMING job without members, under the terms of this JOIN. If all places are taken, the oldest FAILED job
 * gives up its own; NULL if there is none. */
struct ctl_job *ctl_job_create(struct ctl_registry *r, const struct ctl_message *join, uint64_t now);

/* The last word about a job; it is gone after that. Closes the pool of a RUNNING one. */
void ctl_job_drop(struct ctl_registry *r, struct ctl_job *job, const char *why);

/* All ranks are there: RUNNING, or FAILED if they cannot have a pool. */
void ctl_job_run(struct ctl_registry *r, struct ctl_job *job, uint64_t now);

/* FORMING or RUNNING: FAILED, and everybody is told. */
void ctl_job_fail(struct ctl_registry *r, struct ctl_job *job, const struct ctl_failure *why, uint64_t now);

/* The member is no longer JOINED. Drops the job if it was the last; returns whether the job is left. */
bool ctl_job_part(struct ctl_registry *r, struct ctl_job *job, unsigned rank, enum ctl_member_state state);

/* JOINED members not heard since then. */
struct ctl_ranks ctl_job_silent(const struct ctl_job *job, uint64_t since);
/* Whether some JOINED member is of this origin. */
bool ctl_job_has(const struct ctl_job *job, enum ctl_origin origin);
struct ctl_ranks ctl_job_in_state(const struct ctl_job *job, enum ctl_member_state state);

/* Tells what the job's state is: READY or ABORTED, to one member or, again, to those who have not shown that
 * they know. */
void ctl_job_tell(struct ctl_registry *r, const struct ctl_job *job, unsigned rank,
                  const struct ctl_endpoint *to);
void ctl_job_push(struct ctl_registry *r, const struct ctl_job *job);

/* Sends m, its type and body filled in, as an answer to what had this head. */
void ctl_answer(struct ctl_registry *r, const struct ctl_endpoint *to, const struct ctl_head *head,
                uint32_t epoch, struct ctl_message *m);
void ctl_answer_refused(struct ctl_registry *r, const struct ctl_endpoint *to, const struct ctl_head *head,
                        const struct ctl_failure *why);

__attribute__((format(printf, 3, 4))) void ctl_job_event(struct ctl_registry *r, const struct ctl_job *job,
                                                         const char *format, ...);

#endif
