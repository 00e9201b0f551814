/* What an operator can read of a running daemon: the /swagg/... commands of DPDK's telemetry socket
 * (docs/configuration.md, "Looking at it"; dpdk-telemetry.py -f PREFIX).
 *
 * The commands run on a thread of DPDK's; they only read, what they read is said in each header.
 */
#ifndef SWAGG_SHOW_TELEMETRY_H
#define SWAGG_SHOW_TELEMETRY_H

#include "show/parts.h"

/* 0, or -errno after logging. */
int telemetry_start(const struct show_parts *parts);

/* Commands answer with nothing from here on; none is running any more. */
void telemetry_stop(void);

#endif
