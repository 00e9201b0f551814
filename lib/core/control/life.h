/* What can happen to one job; registry.c, join.c and tick.c say when. */
#ifndef SWAGG_CORE_CONTROL_LIFE_H
#define SWAGG_CORE_CONTROL_LIFE_H

#include "control/state.h"

/* The job that this process is or was a member of, or NULL. */
struct ctl_entry *ctl_entry_of(struct ctl_registry *r, const struct ctl_head *head);

/* An empty place becomes a FORMING job without members, under the terms of this JOIN. */
void ctl_entry_found(struct ctl_registry *r, struct ctl_entry *place, const struct ctl_endpoint *from,
                     const struct ctl_message *join, uint64_t now);

/* FORMING: from now on it is the job of this roster, from before a restart. */
void ctl_entry_resume(struct ctl_registry *r, struct ctl_entry *job, uint64_t roster, uint64_t now);

/* For how long after its start the switch gives precedence to jobs from before, and waits for all ranks of
 * such a job. */
uint64_t ctl_entry_come_back_ns(const struct ctl_registry *r);
void ctl_entry_note_start(struct ctl_registry *r, uint64_t now);
/* A rank was heard that was READY under another boot id. */
void ctl_entry_expect_old(struct ctl_registry *r, uint64_t now);

/* The last word about a job; it is gone after that. Releases its pool. */
void ctl_entry_drop(struct ctl_registry *r, struct ctl_entry *job, const char *why);

/* FORMING, all ranks are there: RUNNING; PREPARING, if its pool takes time; or FAILED if they cannot have
 * one. It stays FORMING, and is to be asked for again, while others go first or room may still be found; and
 * if a rank that has waited is not the one that it should be: that one is forgotten. */
void ctl_entry_run(struct ctl_registry *r, struct ctl_entry *job, uint64_t now);

/* PREPARING: the pool is there, or will not be: RUNNING, FAILED or, while room may still be found, FORMING.
 */
void ctl_entry_prepared(struct ctl_registry *r, struct ctl_entry *job, const struct ctl_prepared *p,
                        uint64_t now);

/* Not FAILED yet: FAILED, and everybody is told. */
void ctl_entry_fail(struct ctl_registry *r, struct ctl_entry *job, const struct ctl_failure *why,
                    uint64_t now);

/* The member is no longer JOINED. PREPARING: back to FORMING. Drops the job if it was the last; returns
 * whether the job is left. */
bool ctl_entry_part(struct ctl_registry *r, struct ctl_entry *job, unsigned rank,
                    enum ctl_member_state state);

#endif
