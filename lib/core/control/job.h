/* The registry's inside: its state, and what can happen to one job. registry.c says when. */
#ifndef SWAGG_CORE_CONTROL_JOB_H
#define SWAGG_CORE_CONTROL_JOB_H

#include "control/registry.h"

#define CTL_MS             UINT64_C(1000000)
#define FORMING_LOST_AFTER (5 * CTL_JOIN_INTERVAL_MAX_MS * CTL_MS) /* of a job that is FORMING, at least */

struct ctl_registry {
    struct ctl_registry_config cfg;
    uint64_t ticked_at;      /* 0: never */
    uint64_t old_jobs_until; /* jobs from before a restart go first until then; 0: not started */
    uint64_t expected_until; /* a rank of such a job was heard, and is about to come back */
    struct ctl_job jobs[];
};

enum { CTL_WHO_MAX = 160 };

/* "ranks 1 and 2 (10.0.0.2, 10.0.0.3)": who they are, and at which hosts, as far as known. Returns text. */
const char *ctl_job_who(const struct ctl_job *job, const struct ctl_ranks *set, char text[CTL_WHO_MAX]);
const char *ctl_job_who_is(const struct ctl_job *job, unsigned rank, char text[CTL_WHO_MAX]);

/* FORMING or RUNNING. */
static inline bool ctl_job_is_live(const struct ctl_job *job)
{
    return job->state == CTL_JOB_FORMING || job->state == CTL_JOB_RUNNING;
}

/* The job that this process is or was a member of, or NULL. */
struct ctl_job *ctl_job_of(struct ctl_registry *r, const struct ctl_head *head);

/* An empty place for a job of this JOIN's; NULL, and why: there is none for it. */
struct ctl_job *ctl_place_find(struct ctl_registry *r, const struct ctl_endpoint *from,
                               const struct ctl_message *join, struct ctl_failure *why);

/* A FORMING job without members, under the terms of this JOIN; NULL, and why, if there is no place for it. */
struct ctl_job *ctl_job_create(struct ctl_registry *r, const struct ctl_endpoint *from,
                               const struct ctl_message *join, uint64_t now, struct ctl_failure *why);

/* FORMING: from now on it is the job of this roster, from before a restart. */
void ctl_job_resume(struct ctl_registry *r, struct ctl_job *job, uint64_t roster, uint64_t now);

/* For how long after its start the switch gives precedence to jobs from before, and waits for all ranks of
 * such a job. */
uint64_t ctl_job_come_back_ns(const struct ctl_registry *r);
void ctl_job_note_start(struct ctl_registry *r, uint64_t now);
/* A rank was heard that was READY under another boot id. */
void ctl_job_expect_old(struct ctl_registry *r, uint64_t now);

/* The last word about a job; it is gone after that. Closes the pool of a RUNNING one. */
void ctl_job_drop(struct ctl_registry *r, struct ctl_job *job, const char *why);

/* FORMING, all ranks are there: RUNNING, or FAILED if they cannot have a pool. It stays FORMING, and is to be
 * asked for again, while others go first or room may still be found; and if a rank that has waited is not the
 * one that it should be: that one is forgotten. */
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
