/* What runs on the main lcore around the data path, from the start to a signal that stops it. */
#pragma once

#include "datapath.h"

/* What it runs by, and where that is from, for a reload (reload.h). */
struct daemon_config {
    const char *file;
    struct config *running;
};

/* dp: open, not started; it is stopped afterwards. 0, or -errno after logging. */
int daemon_run(struct datapath *dp, const struct daemon_config *cfg);
