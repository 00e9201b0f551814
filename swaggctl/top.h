/* The whole switch on a full screen: itself, its jobs, ports and threads, every second. */
#ifndef SWAGGCTL_TOP_H
#define SWAGGCTL_TOP_H

#include "instances.h"

/* Returns when the user ends it, by q. 0, or -1: there is no terminal. */
int top_run(const struct instance *instance, double every, char why[INSTANCE_WHY_MAX]);

#endif
