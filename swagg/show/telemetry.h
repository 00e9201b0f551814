/* What an operator can read of a running daemon: the /swagg/... commands of DPDK's telemetry socket
 * (docs/configuration.md, "Looking at it"; dpdk-telemetry.py -f PREFIX).
 *
 * Telemetry (rte_telemetry.h) has no tables: column KEY of table TABLE becomes the list TABLE/KEY, and a list
 * in a row one text, its items separated by spaces. A table without rows leaves nothing. Lists end after
 * RTE_TEL_MAX_ARRAY_ENTRIES items; the text of a list in a row ends with " ..." where it would be longer than
 * TELEMETRY_CELL_MAX.
 *
 * The commands run on a thread of DPDK's and only read; the header of each part says how that is safe.
 */
#pragma once

#include <rte_telemetry.h>

#include "show/parts.h"
#include "views/view.h"

/* 0, or -errno after logging. */
int telemetry_start(const struct show_parts *parts);

/* When it returns no command runs any more, and later ones give empty answers. */
void telemetry_stop(void);

/* The text of a list in a row. */
enum { TELEMETRY_CELL_MAX = RTE_TEL_MAX_STRING_LEN };
const char *telemetry_cell(char text[TELEMETRY_CELL_MAX], const json_t *list);
