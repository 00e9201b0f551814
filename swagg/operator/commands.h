/* What an operator can ask for: every view (show/views.h) and every action (actions.h) under its name.
 *
 * Threads: the operators' thread.
 */
#ifndef SWAGG_OPERATOR_COMMANDS_H
#define SWAGG_OPERATOR_COMMANDS_H

#include "operator/actions.h"
#include "operator/handoff.h"

/* Does what the request says, and fills the reply. main: where actions are run. */
void commands_run(const struct action_parts *parts, struct handoff *main, const struct request *request,
                  struct reply *reply);

#endif
