/* What an operator can read of a running daemon: the /swagg/... commands of DPDK's telemetry socket
 * (docs/configuration.md, "Looking at it"; dpdk-telemetry.py -f PREFIX).
 *
 * The commands run on a thread of DPDK's and only read; the header of each part says how that is safe.
 */
#ifndef SWAGG_SHOW_TELEMETRY_H
#define SWAGG_SHOW_TELEMETRY_H

#include "show/parts.h"

/* 0, or -errno after logging. */
int telemetry_start(const struct show_parts *parts);

/* When it returns no command runs any more, and later ones give empty answers. */
void telemetry_stop(void);

#endif
