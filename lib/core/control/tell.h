/* What the registry says: to workers in messages, to people in words. */
#pragma once

#include "control/state.h"

enum { CTL_WHO_MAX = 190 };

/* "ranks 1 and 2 (10.0.0.2, 10.0.0.3)": who they are, and at which hosts, as far as known. In a tree also
 * "..., at switch 10.0.1.1 on level 2", if it is one switch. Returns text. */
const char *ctl_entry_who(const struct ctl_entry *job, const struct ctl_ranks *set, char text[CTL_WHO_MAX]);
const char *ctl_entry_who_is(const struct ctl_entry *job, unsigned rank, char text[CTL_WHO_MAX]);

/* Fills in *f. */
__attribute__((format(printf, 4, 5))) void ctl_failure_set(struct ctl_failure *f, enum ctl_reason reason,
                                                           unsigned rank, const char *format, ...);

/* Sends READY or ABORTED, by the job's state, to one member; or again to all who have not shown that they
 * know. */
void ctl_entry_tell(struct ctl_registry *r, const struct ctl_entry *job, unsigned rank,
                    const struct ctl_endpoint *to);
void ctl_entry_push(struct ctl_registry *r, const struct ctl_entry *job);

/* Sends m, whose type and body are filled in, as the answer to a message with this head. */
void ctl_answer(struct ctl_registry *r, const struct ctl_endpoint *to, const struct ctl_head *head,
                uint32_t epoch, struct ctl_message *m);
/* The same under another boot id than this switch's. */
void ctl_answer_as(struct ctl_registry *r, const struct ctl_endpoint *to, const struct ctl_head *head,
                   uint32_t epoch, struct ctl_message *m, uint64_t boot_id);
/* name: of the job that it means; "": not known. */
void ctl_answer_refused(struct ctl_registry *r, const struct ctl_endpoint *to, const struct ctl_head *head,
                        const char *name, const struct ctl_failure *why);
/* REFUSED, and what is wrong with a message that cannot be read. */
void ctl_answer_unparsed(struct ctl_registry *r, const struct ctl_endpoint *to, const struct ctl_head *head,
                         enum ctl_parse_error error);
/* Sends PENDING: the job still lacks members, or its pool; or, with `occupied`, it is in the newcomer's way.
 */
void ctl_answer_pending(struct ctl_registry *r, const struct ctl_endpoint *to, const struct ctl_head *head,
                        const struct ctl_entry *job, bool occupied, uint64_t now);
/* The job that it would found has no place, until one that resumes turns out not to. */
void ctl_answer_no_place(struct ctl_registry *r, const struct ctl_endpoint *to, const struct ctl_head *head);

/* An event of the job. rank: whom it is about; or CTL_NO_RANK. */
__attribute__((format(printf, 5, 6))) void ctl_entry_event(struct ctl_registry *r,
                                                           const struct ctl_entry *job,
                                                           enum ctl_event_kind kind, unsigned rank,
                                                           const char *format, ...);

/* Logs that the job runs from now on, with its terms. */
void ctl_entry_event_ready(struct ctl_registry *r, const struct ctl_entry *job);
