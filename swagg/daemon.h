/* What runs on the main lcore around the data path, from the start to a signal that stops it. */
#ifndef SWAGG_DAEMON_H
#define SWAGG_DAEMON_H

#include "datapath.h"

/* dp: open, not started; it is stopped afterwards. 0, or -errno after logging. */
int daemon_run(struct datapath *dp, const struct config *cfg);

#endif
