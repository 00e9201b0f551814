/* What an operator can ask for: every view (show/views.h) and every action (actions.h) under its name;
 * and a capture (capture.h).
 *
 * Threads: the operators' thread.
 */
#ifndef SWAGG_OPERATOR_COMMANDS_H
#define SWAGG_OPERATOR_COMMANDS_H

#include "operator/actions.h"
#include "operator/handoff.h"
#include "operator/server.h"

/* Does what the request says, and fills the reply, and, for a capture, what follows it. main: where actions
 * are run. */
void commands_run(const struct action_parts *parts, struct handoff *main, const struct request *request,
                  struct reply *reply, struct server_stream *stream);

#endif
