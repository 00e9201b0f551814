/* Jobs of which a switch below has restarted: all members are to join again, as if this switch had (life.h).
 */
#ifndef SWAGG_CORE_CONTROL_RECALL_H
#define SWAGG_CORE_CONTROL_RECALL_H

#include "control/state.h"

/* Whether this member is to join again. */
bool ctl_recall_expects(const struct ctl_entry *job, unsigned rank);

/* A JOIN of a member. True: it was handled here, since it says that a switch below has restarted, or is one
 * of those that are expected. */
bool ctl_recall_join(struct ctl_registry *r, struct ctl_entry *job, const struct ctl_endpoint *from,
                     const struct ctl_message *m, uint64_t now);

/* To a member that is to join again: UNKNOWN under another boot id, as of a switch that has restarted. It
 * learns ours from the answer to its JOIN. */
void ctl_recall_answer(struct ctl_registry *r, const struct ctl_endpoint *to, const struct ctl_head *head);

#endif
