/* The smallest EAL there is: ordinary pages, no devices, nothing left behind. */
#pragma once

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#include <rte_common.h>
#include <rte_eal.h>
#include <rte_rcu_qsbr.h>

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

/* Where one lcore may report; as long as none does, nobody has to be waited for. NULL: no memory. */
static inline struct rte_rcu_qsbr *small_eal_rcu(void)
{
    struct rte_rcu_qsbr *rcu = aligned_alloc(RTE_CACHE_LINE_SIZE, rte_rcu_qsbr_get_memsize(1));

    return rcu == NULL || rte_rcu_qsbr_init(rcu, 1) != 0 ? NULL : rcu;
}
