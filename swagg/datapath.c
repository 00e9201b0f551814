#include "datapath.h"

#include <errno.h>

#include <rte_launch.h>
#include <rte_malloc.h>

#include "base/log.h"
#include "base/secret.h"
#include "datapath_make.h"

static void make_loops(struct datapath *dp)
{
    dp->loops.window = rte_get_tsc_hz();
    for (unsigned p = 0; p < SWAGG_MAX_PORTS; p++)
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
    dp->uplinks = cfg->uplinks;
    dp->to_control.wakeup = -1;
    dp->boot_id = secret64() | 1;
    dp->lcores.n = placement->lcores;
    dp->shards.n = placement->shards;
    dp->placement = *placement;
    datapath_set_pace(dp, cfg);

    vlans_make(&dp->vlans, cfg);
    rc = datapath_make_memory(dp, cfg);
    if (rc == 0)
        rc = datapath_open_ports(dp, cfg);
    if (rc == 0)
        rc = datapath_make_classifier(dp, cfg);
    if (rc == 0)
        rc = datapath_make_lcores(dp);
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
    lcores_wake(&dp->lcores);
    rte_eal_mp_wait_lcore();
}

static void free_lcore(struct lcore *lc)
{
    if (lc != NULL)
        bell_close(&lc->bell);
    rte_free(lc);
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
        free_lcore(dp->lcores.lcore[i]);
    for (unsigned i = 0; i < dp->lcores.n; i++)
        free_ring(dp->shards.inbox[i]);
    for (uint64_t left = dp->ports; left != 0; left &= left - 1)
        port_close(&dp->port[rte_bsf64(left)]);
    classifier_free(&dp->classifier);
    inbox_close(&dp->to_control);
    jobs_free(&dp->jobs);
    rte_free(dp->bridge);
    rte_free(dp->rcu);
    rte_mempool_free(dp->long_buffers);
    for (unsigned p = 0; p < SWAGG_MAX_PORTS; p++)
        if (dp->port_mbufs[p] != dp->mbufs)
            rte_mempool_free(dp->port_mbufs[p]);
    rte_mempool_free(dp->mbufs);
    rte_free(dp);
}
