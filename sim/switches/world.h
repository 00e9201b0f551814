/* Plays jobs by several switches, whose links fail and come back. */
#ifndef SWAGG_SIM_SWITCHES_WORLD_H
#define SWAGG_SIM_SWITCHES_WORLD_H

#include "seeds.h"

/* Plays many, and says what happened in them. Prints each failure as it is found. trace: every event, too.
 * False: something failed. */
bool switches_run(uint64_t first, uint64_t count, bool trace);

#endif
