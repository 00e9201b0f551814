/* What each lcore polls, and how; also while they poll. */
#include "datapath_make.h"

#include <unistd.h>

#include <rte_cycles.h>

enum { LOOK_AGAIN_US = 50 };

void datapath_set_pace(struct datapath *dp, const struct config *cfg)
{
    const uint64_t cycles_per_ms = rte_get_tsc_hz() / MS_PER_S;

    dp->link_local = cfg->link_local;
    dp->tx_delay = cfg->tx_delay_us * rte_get_tsc_hz() / US_PER_S;
    dp->pace = (struct lcore_pace){.spin = cfg->idle.spin,
                                   .max_sleep_us = cfg->idle.max_sleep_us,
                                   .until_due_us = cfg->idle.until_due_us,
                                   .cycles_per_ms = cycles_per_ms,
                                   .stall = LCORE_STALL_MS * cycles_per_ms};
}

static uint64_t impaired_ports(const struct datapath *dp)
{
    uint64_t impaired = 0;

    for (uint64_t left = dp->ports; left != 0; left &= left - 1)
        if (port_impairments(&dp->port[rte_bsf64(left)].tx[0]) != NULL)
            impaired |= left & -left;
    return impaired;
}

static uint64_t sends_to(const struct placement_lcore *l)
{
    uint64_t ports = 0;

    for (unsigned q = 0; q < SWAGG_MAX_QUEUES; q++)
        ports |= l->tx[q];
    return ports;
}

/* Every receive queue of a port may let in its part of what the port may. */
static void bound_storms(const struct datapath *dp, struct lcore_tasks *tasks)
{
    for (uint64_t left = dp->ports; left != 0; left &= left - 1) {
        const struct port *port = &dp->port[rte_bsf64(left)];
        unsigned queues = 0;

        for (unsigned q = 0; q < SWAGG_MAX_QUEUES; q++)
            queues += (tasks->queues.rx[q] & left & -left) != 0;
        for (enum config_storm_kind kind = 0; kind < CONFIG_STORM_KINDS; kind++)
            tasks->storm[rte_bsf64(left)].frames[kind] =
                (uint32_t)((uint64_t)port->storm.frames[kind] * queues / port->rx_queues);
    }
}

void datapath_assign(struct datapath *dp)
{
    struct lcore_tasks tasks = {.ports = dp->ports,
                                .tx_delay = dp->tx_delay,
                                .multi_segment = dp->multi_segment,
                                .link_local = dp->link_local,
                                .pace = dp->pace};
    struct lcore *main_lcore = lcores_main(&dp->lcores);

    lcore_assign(main_lcore, &tasks);
    lcore_take(main_lcore);
    for (unsigned i = 0; i < dp->lcores.n; i++) {
        struct lcore *lc = dp->lcores.lcore[i];

        tasks.queues = dp->placement.lcore[i];
        bound_storms(dp, &tasks);
        __atomic_store_n(&lc->send.impaired, sends_to(&tasks.queues) & impaired_ports(dp), __ATOMIC_RELAXED);
        for (uint64_t left = tasks.queues.tx[0]; left != 0; left &= left - 1)
            __atomic_store_n(&dp->port[rte_bsf64(left)].sender, &lc->bell, __ATOMIC_RELEASE);
        lcore_assign(lc, &tasks);
    }
}

void datapath_settle(const struct datapath *dp)
{
    for (unsigned i = 0; i < dp->lcores.n; i++)
        while (!lcore_has_taken(dp->lcores.lcore[i]))
            usleep(LOOK_AGAIN_US);
}

void datapath_follow(struct datapath *dp, const struct config *cfg)
{
    datapath_set_pace(dp, cfg);
    for (uint64_t left = dp->ports; left != 0; left &= left - 1)
        dp->port[rte_bsf64(left)].storm = cfg->port[rte_bsf64(left)].storm;
    datapath_assign(dp);
    datapath_settle(dp);
}
