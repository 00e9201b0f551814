/* What an operator can ask for: every view (show/views.h) under its name.
 *
 * Threads: the operators' thread.
 */
#ifndef SWAGG_OPERATOR_COMMANDS_H
#define SWAGG_OPERATOR_COMMANDS_H

#include "operator/reply.h"
#include "show/parts.h"

/* Does what the request says, and fills the reply. */
void commands_run(const struct show_parts *parts, const struct request *request, struct reply *reply);

#endif
