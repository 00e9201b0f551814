/* What the ports of a configuration are on this machine, as tables that can go into an issue. */
#pragma once

#include <stdio.h>

#include "datapath.h"

/* Starts the ports, waits a moment for their links, and prints. The lcores do not run. 0, or -errno after
 * logging. */
int probe_print(struct datapath *dp, FILE *to);
