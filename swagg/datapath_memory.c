/* Memory that the data path's parts share: buffers, the bridge's table, RCU, messages for the main lcore. */
#include "datapath_make.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_malloc.h>
#include <rte_random.h>

#include "base/log.h"
#include "base/secret.h"
#include "kernels_chosen.h"

enum {
    DATAPATH_STATIONS = 4096,
    DATAPATH_MBUFS_A_FURTHER_QUEUE = 1024,
    DATAPATH_MBUFS_AN_LCORE = 2048,
    /* What the rest takes at most, in KB: rings, tables, what devices keep. */
    DATAPATH_KB = 8192,
    DATAPATH_KB_A_QUEUE = 256,
    DATAPATH_KB_AN_LCORE = 512,
};

static unsigned further_queues(const struct config *cfg)
{
    unsigned queues = 0;

    for (unsigned p = 0; p < cfg->ports; p++)
        queues += cfg->port[p].rx_queues - 1 + cfg->port[p].tx_queues - 1;
    return queues;
}

static unsigned count_mbufs(const struct config *cfg, unsigned lcores)
{
    return cfg->ports * DATAPATH_MBUFS_A_PORT + further_queues(cfg) * DATAPATH_MBUFS_A_FURTHER_QUEUE +
           (lcores + 1) * DATAPATH_MBUFS_AN_LCORE + cfg->pool.kept_frames;
}

/* Where virtual addresses are what devices use, a buffer may cross pages, else each would take whole ones. */
struct rte_mempool *datapath_make_buffers(const char *name, unsigned n, unsigned cache, uint16_t bytes)
{
    const struct rte_pktmbuf_pool_private room = {.mbuf_data_room_size = bytes};
    const unsigned flags = rte_eal_iova_mode() == RTE_IOVA_VA ? RTE_MEMPOOL_F_NO_IOVA_CONTIG : 0;

    return rte_mempool_create(name, n - 1, sizeof(struct rte_mbuf) + bytes, cache, sizeof(room),
                              rte_pktmbuf_pool_init, (void *)&room, rte_pktmbuf_init, NULL, SOCKET_ID_ANY,
                              flags);
}

size_t datapath_buffers_bytes(unsigned n, uint16_t bytes)
{
    return (size_t)n * rte_mempool_calc_obj_size(sizeof(struct rte_mbuf) + bytes, 0, NULL);
}

unsigned datapath_megabytes(const struct config *cfg, unsigned lcores)
{
    const size_t buffers = datapath_buffers_bytes(count_mbufs(cfg, lcores), port_buffer_bytes(cfg->mtu));
    const size_t bridge = bridge_tables_footprint(DATAPATH_STATIONS, RTE_MAX(cfg->vlans, 1u));
    const size_t rest = DATAPATH_KB + (2 * cfg->ports + further_queues(cfg)) * DATAPATH_KB_A_QUEUE +
                        (lcores + 1) * DATAPATH_KB_AN_LCORE;

    return cfg->pool.megabytes + (unsigned)((buffers + bridge + rest * 1024) >> 20) + 1;
}

static int make_mbufs(struct datapath *dp, const struct config *cfg)
{
    const unsigned n = count_mbufs(cfg, dp->lcores.n);
    const uint16_t bytes = port_buffer_bytes(cfg->mtu);

    dp->mbufs = datapath_make_buffers("mbufs", n, DATAPATH_MBUF_CACHE, bytes);
    for (unsigned p = 0; p < cfg->ports; p++)
        dp->port_mbufs[p] = dp->mbufs;
    if (dp->mbufs != NULL)
        return 0;
    log_error("no memory for %u packet buffers of %u bytes: raise memory.megabytes (now %u) to %u", n, bytes,
              cfg->memory.megabytes, datapath_megabytes(cfg, dp->lcores.n));
    return -ENOMEM;
}

static int make_shared(struct datapath *dp, const struct config *cfg)
{
    size_t rcu_bytes = rte_rcu_qsbr_get_memsize(dp->lcores.n);
    size_t bridge_bytes = bridge_tables_footprint(DATAPATH_STATIONS, dp->vlans.n);
    void *bridge = rte_malloc("bridge", bridge_bytes, RTE_CACHE_LINE_SIZE);

    dp->rcu = rte_zmalloc("rcu", rcu_bytes, RTE_CACHE_LINE_SIZE);
    if (bridge == NULL || dp->rcu == NULL) {
        rte_free(bridge);
        log_error("no memory for the bridge: raise memory.megabytes (now %u)", cfg->memory.megabytes);
        return -ENOMEM;
    }
    dp->bridge = bridge_tables_init(bridge, DATAPATH_STATIONS, dp->vlans.n, rte_rand());
    dp->jobs.rcu = dp->rcu;
    jobs_limit(&dp->jobs, cfg);
    dp->jobs.shards = (uint16_t)dp->shards.n;
    return rte_rcu_qsbr_init(dp->rcu, dp->lcores.n);
}

static int choose_kernels(struct datapath *dp)
{
    char why[KERNELS_WHY];

    dp->jobs.kernels = kernels_chosen(why);
    if (dp->jobs.kernels == NULL) {
        log_error("%s", why);
        return -EINVAL;
    }
    if (getenv("SWAGG_KERNELS") != NULL)
        log_notice("kernels are %s, as SWAGG_KERNELS asks for", dp->jobs.kernels->name);
    return 0;
}

static int make_control_inbox(struct datapath *dp, const struct config *cfg)
{
    int rc;

    ctl_intake_rules_init(&dp->to_control.rules, cfg->limits.workers, secret64());
    rc = inbox_open(&dp->to_control, cfg->ports);
    if (rc == -ENOMEM)
        log_error("no memory for control messages: raise memory.megabytes (now %u)", cfg->memory.megabytes);
    else if (rc < 0)
        log_error("no descriptor for control messages: %s: raise the limit of open files (ulimit -n)",
                  strerror(-rc));
    return rc;
}

int datapath_make_memory(struct datapath *dp, const struct config *cfg)
{
    int rc = choose_kernels(dp);

    if (rc == 0)
        rc = make_mbufs(dp, cfg);
    if (rc == 0)
        rc = make_shared(dp, cfg);
    if (rc == 0)
        rc = make_control_inbox(dp, cfg);
    return rc;
}

size_t datapath_free_megabytes(void)
{
    struct rte_malloc_socket_stats heap;
    size_t bytes = 0;

    for (unsigned i = 0; i < rte_socket_count(); i++)
        if (rte_malloc_get_socket_stats(rte_socket_id_by_idx(i), &heap) == 0)
            bytes += heap.heap_freesz_bytes;
    return bytes >> 20;
}

int datapath_check_memory(const struct config *cfg)
{
    const size_t left = datapath_free_megabytes();

    if (left >= cfg->pool.megabytes)
        return 0;
    log_error("packet buffers and rings leave %zu MB of memory.megabytes, pool.megabytes is %u: raise "
              "memory.megabytes from %u to %zu",
              left, cfg->pool.megabytes, cfg->memory.megabytes,
              cfg->memory.megabytes + cfg->pool.megabytes - left + 1);
    return -ENOMEM;
}
