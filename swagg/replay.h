/* Jobs for captures that are replayed over and over: they stand in the configuration, nobody joins or leaves
 * them, and no worker of theirs is ever lost. */
#ifndef SWAGG_REPLAY_H
#define SWAGG_REPLAY_H

#include "config.h"
#include "datapath.h"

/* Before any other job is opened, so that their numbers on the wire are 0, 1, ... in the configuration's
 * order. 0, or -errno after logging. */
int replay_open(struct datapath *dp, const struct config *cfg);

#endif
