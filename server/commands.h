/* What an operator can ask a server for: every view (views/declared.h), and to end jobs. */
#pragma once

#include "operator/reply.h"
#include "operator/server.h"
#include "ps.h"

/* view_source.fill; context: struct ps. Any thread. */
int commands_view(void *context, const struct view *view, const char *name, struct view_out *out);

/* operators_host.run; context: struct ps. */
void commands_run(void *context, const struct request *request, struct reply *reply,
                  struct server_feed *feed);
