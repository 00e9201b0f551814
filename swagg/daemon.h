/* What runs on the main lcore around the data path, from the start to a signal that stops it. */
#pragma once

#include "datapath.h"

/* dp: open, not started; it is stopped afterwards. running: what it runs by, from this file, which a reload
 * (reload.h) reads anew. 0, or -errno after logging. */
int daemon_run(struct datapath *dp, const char *file, struct config *running);
