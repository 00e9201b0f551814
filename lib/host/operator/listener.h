/* The socket by which operators reach the daemon: a file, whose permissions say who may.
 *
 * Threads: the main lcore's.
 */
#pragma once

#include <limits.h>

#include "base/run_directory.h"
#include "config/config.h"

struct listener {
    int fd;
    char path[PATH_MAX]; /* of the socket */
    char link[PATH_MAX]; /* in RUN_DIRECTORY, which leads there if the socket lies elsewhere, unless
                            another daemon of this name is found there */
};

/* Makes the socket. name: of this daemon among others. 0; or after logging: -EADDRINUSE, another daemon has
 * it; -ENOENT, no such group; or another -errno. fd then is -1, and nothing is left. */
int listener_open(struct listener *l, const struct config_control *cfg, const char *name);

/* Removes the files, but no link of another daemon. The descriptor is the caller's to close. */
void listener_remove(const struct listener *l);
