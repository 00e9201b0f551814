/* Plays jobs by several switches, whose links fail and come back. */
#pragma once

#include "seeds.h"

/* Plays many, and says what happened in them. Prints each failure as it is found. trace: every event, too.
 * False: something failed. */
bool switches_run(uint64_t first, uint64_t count, bool trace);
