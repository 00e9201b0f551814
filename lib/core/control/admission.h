/* Who may enter a job: the checks on a JOIN that look at nothing but the JOIN and the job. */
#ifndef SWAGG_CORE_CONTROL_ADMISSION_H
#define SWAGG_CORE_CONTROL_ADMISSION_H

#include "control/registry.h"

/* Says why and returns. */
__attribute__((format(printf, 4, 5))) void ctl_failure_set(struct ctl_failure *f, enum ctl_reason reason,
                                                           unsigned rank, const char *format, ...);

/* False, and why, if something in the message is out of range. */
bool ctl_admission_arguments(const struct ctl_message *join, struct ctl_failure *why);

/* Whether the JOIN's size, format, mode or checksum are not the job's. */
bool ctl_admission_terms_differ(const struct ctl_job *job, const struct ctl_message *join);

/* The exclusive or of all members' incarnations. */
uint64_t ctl_admission_roster(const struct ctl_job *job);

/* The member that stands in a newcomer's way; -1 if there is none. RUNNING: somebody always does. */
int ctl_admission_rival(const struct ctl_job *job, const struct ctl_endpoint *from,
                        const struct ctl_message *join);

/* Why the newcomer that challenged this member cannot have its way, now that the member is known to live. */
void ctl_admission_refusal(const struct ctl_job *job, unsigned rank, struct ctl_failure *why);

/* The terms of a job whose ranks are all there, for packets of at most so many bytes of UDP payload (0: any).
 * Fills in slots, chunk_bytes and roster, and corrects first_tag if it resumes. False, and why, if the ranks
 * cannot resume together. */
bool ctl_admission_terms(struct ctl_job *job, size_t payload_bytes, struct ctl_failure *why);

#endif
