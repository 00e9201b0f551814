/* Plays jobs whose ranks share hosts: the real board in the memory of each, and rails through the real
 * switch. */
#pragma once

#include "hosts/scenario.h"
#include "seeds.h"

/* Plays many, and says what happened in them. Prints each failure as it is found. trace: every event, too.
 * False: something failed. */
bool hosts_run(uint64_t first, uint64_t count, bool trace);
