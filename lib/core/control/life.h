/* What can happen to a job; registry.c, join.c and tick.c decide when. */
#pragma once

#include "control/state.h"

/* The job that this process is or was a member of, or NULL: in a job with a key there is nobody without it,
 * and nobody in it speaks from another network. from->key is filled in. */
struct ctl_entry *ctl_entry_of(struct ctl_registry *r, const struct ctl_head *head,
                               const struct ctl_endpoint *from);

/* A free entry becomes a FORMING job of this tenant without members, under the terms of this JOIN. */
void ctl_entry_found(struct ctl_registry *r, struct ctl_entry *place, int tenant,
                     const struct ctl_endpoint *from, const struct ctl_message *join, uint64_t now);

/* FORMING: from now on it is the job of this roster, from before a restart. */
void ctl_entry_resume(struct ctl_registry *r, struct ctl_entry *job, uint64_t roster, uint64_t now);

/* RUNNING: a switch between this one and some rank has restarted, so what it had collected is lost. All
 * members are to join again, as if this switch had restarted: FORMING, resuming. FAILED instead, if one has
 * left. */
void ctl_entry_recall(struct ctl_registry *r, struct ctl_entry *job, unsigned rank, uint64_t now);

/* For how long after its start the switch gives precedence to jobs that ran before a restart, and waits for
 * all ranks of such a job. */
uint64_t ctl_entry_come_back_ns(const struct ctl_registry *r);
void ctl_entry_note_start(struct ctl_registry *r, uint64_t now);
/* Whether that is now. Who says that he was there before a restart is then believed before newcomers are;
 * later he is one of them. */
bool ctl_entry_old_go_first(const struct ctl_registry *r, uint64_t now);
/* A rank was heard that was READY under another boot id. */
void ctl_entry_expect_old(struct ctl_registry *r, uint64_t now);

/* The job is gone after that, and its entry free. Releases its pool. `why` goes to the log. */
void ctl_entry_drop(struct ctl_registry *r, struct ctl_entry *job, const char *why);

/* FORMING, all ranks are there: becomes RUNNING; or PREPARING, if its pool takes time; or FAILED, if it
 * cannot have one. It stays FORMING, and this is to be called again later, while other jobs go first or room
 * may still be found; also if one of the ranks that have waited since before a restart turns out to be the
 * wrong process, which is then forgotten. */
void ctl_entry_run(struct ctl_registry *r, struct ctl_entry *job, uint64_t now);

/* PREPARING: the pool is made, or could not be made. Becomes RUNNING, FAILED or, while room may still be
 * found, FORMING. */
void ctl_entry_prepared(struct ctl_registry *r, struct ctl_entry *job, const struct ctl_prepared *p,
                        uint64_t now);

/* It was RUNNING in an earlier life of this process, and is again. READY is repeated to members until they
 * show that they know of it, for it may not have been sent before. */
void ctl_entry_go_on(struct ctl_registry *r, struct ctl_entry *job, uint64_t now);

/* A job that is not FAILED yet becomes it, and all members are told. */
void ctl_entry_fail(struct ctl_registry *r, struct ctl_entry *job, const struct ctl_failure *why,
                    uint64_t now);

/* Before a job that resumes fails: forgets its members that say they have waited, as long as nothing shows
 * that they are in it, so that nobody who is not ends their joining. They join again. Does nothing to other
 * jobs. Returns whether the job is still there. */
bool ctl_entry_let_go(struct ctl_registry *r, struct ctl_entry *job);

/* RUNNING: this rank was heard from there, in a message with this serial that shows that it is the member. It
 * moves if only its MAC address is another; packets and results follow. A copy of the message moves nobody,
 * for it may come from elsewhere. */
void ctl_entry_heard_from(struct ctl_registry *r, struct ctl_entry *job, unsigned rank,
                          const struct ctl_endpoint *from, uint32_t serial);

/* The member is no longer JOINED; a PREPARING job is FORMING again. Drops the job if that was its last
 * member, and it has not failed with others to be told so; returns whether the job is still there. */
bool ctl_entry_part(struct ctl_registry *r, struct ctl_entry *job, unsigned rank,
                    enum ctl_member_state state);

/* FORMING, PREPARING: members that were heard last before `since` are no longer JOINED. Returns whether there
 * were any. */
bool ctl_entry_forget_silent(struct ctl_registry *r, struct ctl_entry *job, uint64_t since);
