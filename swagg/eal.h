/* Starts DPDK's environment from the configuration: lcores, memory, devices. */
#pragma once

#include <stdbool.h>

#include "config/config.h"

/* Whether the operator's arguments, NULL-terminated, choose lcores and their CPUs. */
bool eal_lcores_given(char *const user[]);

/* Whether memory.megabytes is as much as is needed, and the machine has the hugepages that the configuration
 * insists on, in use or free; the log says if not. If the operator's arguments choose the memory, all is as
 * they say. */
bool eal_memory_fits(const struct config *cfg, unsigned needed, char *const user[]);

/* Lcore 0 is the main one, on main_cpu; lcore i + 1 is the placement's lcore i. user: the operator's
 * arguments, NULL-terminated, added at the end; if they choose lcores, memory or the file prefix, they
 * replace ours. 0, or -errno after logging; -EINVAL: the arguments are wrong. */
int eal_start(const struct config *cfg, const struct placement *placement, int main_cpu, char *const user[]);

/* Ends DPDK's environment. Its run-time directory is removed when the process exits, unless another process
 * uses it. */
void eal_stop(void);

/* The file prefix: the name of this process among those that use DPDK; valid after eal_start. */
const char *eal_name(void);

/* How much memory of which kind there is, in words; valid after eal_start. */
const char *eal_memory(void);
