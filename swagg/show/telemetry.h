/* What an operator can read of a running daemon: the /swagg/... commands of DPDK's telemetry socket
 * (docs/configuration.md, "Looking at it"; dpdk-telemetry.py -f PREFIX).
 *
 * The commands run on a thread of DPDK's; they only read, what they read is said in each header.
 */
#ifndef SWAGG_SHOW_TELEMETRY_H
#define SWAGG_SHOW_TELEMETRY_H

#include "control/registrar.h"
#include "control/replay.h"
#include "datapath.h"

/* 0, or -errno after logging. */
int telemetry_start(struct datapath *dp, struct registrar *registrar, const struct replays *replays);

/* Commands answer with nothing from here on; none is running any more. */
void telemetry_stop(void);

#endif
