/* Plays many scenarios of ranks that share hosts, and says what happened in them. */
#ifndef SWAGG_SIM_HOSTS_RUN_H
#define SWAGG_SIM_HOSTS_RUN_H

#include <stdbool.h>
#include <stdint.h>

/* Prints each failure as it is found. trace: every event, too. False: something failed. */
bool hosts_run(uint64_t first, uint64_t count, bool trace);

#endif
