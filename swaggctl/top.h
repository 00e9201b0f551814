/* The whole switch on a full screen: itself, its jobs, ports and threads, every second. */
#ifndef SWAGGCTL_TOP_H
#define SWAGGCTL_TOP_H

#include "places.h"

/* Returns when the user ends it, by q. 0, or -1: there is no terminal. */
int top_run(const struct place *place, double every, char why[PLACE_WHY_MAX]);

#endif
