/* A capture for an operator: frames that pass the ports, as a stream in pcapng's format.
 *
 * Threads: the operators'.
 */
#ifndef SWAGG_OPERATOR_CAPTURE_H
#define SWAGG_OPERATOR_CAPTURE_H

#include "commands/actions.h"
#include "operator/server.h"

/* Begins what the request asks for ("port", "job", "kind": optional; "snap": bytes of a frame at most) and
 * fills in *feed; or the reply, if it cannot. Ports on which somebody captures already are refused. */
void capture_open(const struct action_parts *parts, const struct request *request, struct reply *reply,
                  struct server_feed *feed);

#endif
