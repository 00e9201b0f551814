/* The smallest EAL there is: ordinary pages, no devices, nothing left behind. */
#ifndef SWAGG_TESTS_SMALL_EAL_H
#define SWAGG_TESTS_SMALL_EAL_H

#include <sched.h>
#include <stdio.h>

#include <rte_common.h>
#include <rte_eal.h>

/* Negative: it does not start. */
static inline int small_eal_start(unsigned megabytes)
{
    char memory[16], lcore[32];
    char *args[] = {"test",           "--no-huge",         "-m", memory, "--no-pci", "--no-shconf",
                    "--no-telemetry", "--log-level=error", lcore};

    snprintf(memory, sizeof(memory), "%u", megabytes);
    snprintf(lcore, sizeof(lcore), "--lcores=0@%d", sched_getcpu());
    return rte_eal_init(RTE_DIM(args), args);
}

#endif
