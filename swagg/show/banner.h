/* What the log says once everything runs: who the switch is, its ports, who does what, and "ready". */
#ifndef SWAGG_SHOW_BANNER_H
#define SWAGG_SHOW_BANNER_H

#include "datapath.h"

void banner_ready(const struct datapath *dp);

#endif
