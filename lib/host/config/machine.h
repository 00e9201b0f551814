/* What a configuration asks of the machine that it is read on: memory, and the group of the socket for
 * operators. */
#ifndef SWAGG_CONFIG_MACHINE_H
#define SWAGG_CONFIG_MACHINE_H

#include <sys/types.h>

#include "config/config.h"

/* Whether the machine has it; else the log says all that it has not. */
bool machine_suits(const struct config *cfg);

/* The group of this name; (gid_t)-1 for "". -ENOENT: there is none, which the log says. */
int machine_group(gid_t *group, const char *name);

#endif
