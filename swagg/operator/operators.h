/* The operators' thread: answers swaggctl on the daemon's socket (docs/configuration.md, "Operating it"). It
 * reads what the daemon is doing as telemetry does, so the main lcore, which serves the workers, is not held
 * up.
 */
#ifndef SWAGG_OPERATOR_OPERATORS_H
#define SWAGG_OPERATOR_OPERATORS_H

#include "config/config.h"
#include "operator/actions.h"
#include "operator/handoff.h"

struct operators;

/* Makes the socket, and starts the thread. *o is NULL if the configuration wants none, or if the default
 * socket cannot be made, which is logged. parts and main outlive it. 0, or -errno after logging. */
int operators_start(struct operators **o, const struct action_parts *parts, struct handoff *main,
                    const struct config_control *cfg);

/* When it returns the thread has ended, and the socket is gone. o may be NULL. */
void operators_stop(struct operators *o);

#endif
