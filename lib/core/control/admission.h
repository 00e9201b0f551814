/* Who may enter a job: the checks on a JOIN that look at nothing but the JOIN and the job. */
#pragma once

#include "control/actions.h"

/* False, and why, if something in the message is out of range, or of a protocol that this switch does not
 * speak. */
bool ctl_admission_arguments(const struct ctl_registry_config *cfg, const struct ctl_message *join,
                             struct ctl_failure *why);

/* Whether the JOIN's size, protocol or terms do not go with the job's. */
bool ctl_admission_terms_differ(const struct ctl_entry *job, const struct ctl_message *join);

/* The member that stands in a newcomer's way; -1: none does. In a RUNNING job there always is one. */
int ctl_admission_rival(const struct ctl_entry *job, const struct ctl_endpoint *from,
                        const struct ctl_message *join);

/* Why the newcomer that challenged this member is refused, now that the member is known to be alive. */
void ctl_admission_refusal(const struct ctl_registry_config *cfg, const struct ctl_entry *job, unsigned rank,
                           struct ctl_failure *why);
