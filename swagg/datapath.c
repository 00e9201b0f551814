#include "datapath.h"

#include <errno.h>

#include <rte_cycles.h>
#include <rte_launch.h>
#include <rte_malloc.h>

#include "base/log.h"
#include "base/secret.h"
#include "datapath_make.h"

static struct lcore_pace pace(const struct config *cfg)
{
    const uint64_t cycles_per_ms = rte_get_tsc_hz() / MS_PER_S;

    return (struct lcore_pace){.spin = cfg->idle.spin,
                               .max_sleep_us = cfg->idle.max_sleep_us,
                               .cycles_per_ms = cycles_per_ms,
                               .stall = (LCORE_STALL_MS + cfg->idle.max_sleep_us / 1000) * cycles_per_ms};
}

/* After the ports. */
static void make_loops(struct datapath *dp)
{
    dp->loops.ports = dp->ports;
    dp->loops.window = rte_get_tsc_hz();
    for (unsigned p = 0; p < dp->ports; p++)
        dp->loops.number[p] = secret64();
}

int datapath_open(struct datapath **out, const struct config *cfg, const struct placement *placement)
{
    struct datapath *dp = rte_zmalloc("datapath", sizeof(*dp), RTE_CACHE_LINE_SIZE);
    int rc;

    *out = NULL;
    if (dp == NULL) {
        log_error("no memory: raise memory.megabytes (now %u)", cfg->memory.megabytes);
        return -ENOMEM;
    }
    dp->ip = cfg->has_ip ? cfg->ip : 0;
    dp->to_control.wakeup = -1;
    dp->boot_id = secret64() | 1;
    dp->lcores.n = placement->lcores;
    dp->shards.n = placement->shards;
    dp->pace = pace(cfg);
    dp->link_local = cfg->link_local;
    dp->tx_delay = cfg->tx_delay_us * rte_get_tsc_hz() / US_PER_S;

    vlans_make(&dp->vlans, cfg);
    rc = datapath_make_memory(dp, cfg);
    if (rc == 0)
        rc = datapath_open_ports(dp, cfg);
    if (rc == 0)
        rc = datapath_make_classifier(dp, cfg);
    if (rc == 0)
        rc = datapath_make_lcores(dp, placement);
    if (rc == 0)
        rc = datapath_check_memory(cfg);
    if (rc == 0) {
        make_loops(dp);
        datapath_carry_merged(dp, cfg);
    }
    if (rc < 0) {
        datapath_close(dp);
        return rc;
    }
    *out = dp;
    return 0;
}

void datapath_stop(struct datapath *dp)
{
    __atomic_store_n(&dp->stop, true, __ATOMIC_RELAXED);
    rte_eal_mp_wait_lcore();
}

static void free_ring(struct rte_ring *ring)
{
    struct rte_mbuf *m;

    while (ring != NULL && rte_ring_dequeue(ring, (void **)&m) == 0)
        rte_pktmbuf_free(m);
    rte_ring_free(ring);
}

void datapath_close(struct datapath *dp)
{
    if (dp == NULL)
        return;
    datapath_stop(dp);
    for (unsigned i = 0; i <= dp->lcores.n; i++)
        rte_free(dp->lcores.lcore[i]);
    for (unsigned i = 0; i < dp->lcores.n; i++)
        free_ring(dp->shards.inbox[i]);
    for (unsigned p = 0; p < dp->ports; p++)
        port_close(&dp->port[p]);
    classifier_free(&dp->classifier);
    inbox_close(&dp->to_control);
    jobs_free(&dp->jobs);
    rte_free(dp->bridge);
    rte_free(dp->rcu);
    rte_mempool_free(dp->long_buffers);
    rte_mempool_free(dp->mbufs);
    rte_free(dp);
}
