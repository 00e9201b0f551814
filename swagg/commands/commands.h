/* What an operator can ask for: every view (show/views.h) and every action (actions.h) under its name;
 * and a capture.
 *
 * Threads: the operators' thread.
 */
#pragma once

#include "commands/actions.h"
#include "operator/server.h"

/* view_source.fill; context: struct show_parts. Any thread. */
int commands_view(void *context, const struct view *view, const char *name, struct view_out *out);

/* operators_host.run; context: struct action_parts. */
void commands_run(void *context, const struct request *request, struct reply *reply,
                  struct server_feed *feed);
