#include "port/buffers.h"

#include <rte_eal.h>
#include <rte_mbuf.h>
#include <rte_mbuf_pool_ops.h>
#include <rte_mempool.h>
#include <rte_memzone.h>

#include "base/log.h"

static size_t element_bytes(uint16_t bytes)
{
    return sizeof(struct rte_mbuf) + bytes;
}

static void free_zone(struct rte_mempool_memhdr *chunk, void *zone)
{
    (void)chunk;
    rte_memzone_free(zone);
}

/* Where virtual addresses are what devices use, buffers may cross pages, else each would take whole ones.
 * Only: DPDK's own way to populate such a pool leaves buffers without any address that a NIC could use. */
static int populate_across_pages(struct rte_mempool *pool, int node)
{
    size_t least, align;
    const ssize_t bytes = rte_mempool_op_calc_mem_size_default(pool, pool->size, 0, &least, &align);
    const struct rte_memzone *zone =
        bytes < 0 ? NULL : rte_memzone_reserve_aligned(pool->name, (size_t)bytes, node, 0, (unsigned)align);
    int rc;

    if (zone == NULL)
        return -1;
    rc = rte_mempool_populate_iova(pool, zone->addr, (rte_iova_t)(uintptr_t)zone->addr, zone->len, free_zone,
                                   (void *)(uintptr_t)zone);
    if (rc < 0)
        rte_memzone_free(zone);
    /* DPDK leaves this on pools that may cross pages, and drivers pass over it. */
    pool->flags &= ~RTE_MEMPOOL_F_NON_IO;
    return rc < (int)pool->size ? -1 : rc;
}

static struct rte_mempool *make_on(int node, const char *name, unsigned n, unsigned cache, uint16_t bytes)
{
    const struct rte_pktmbuf_pool_private room = {.mbuf_data_room_size = bytes};
    const bool across = rte_eal_iova_mode() == RTE_IOVA_VA;
    struct rte_mempool *pool =
        rte_mempool_create_empty(name, n - 1, (unsigned)element_bytes(bytes), cache, sizeof(room), node,
                                 across ? RTE_MEMPOOL_F_NO_IOVA_CONTIG : 0);

    if (pool == NULL)
        return NULL;
    if (rte_mempool_set_ops_byname(pool, rte_mbuf_best_mempool_ops(), NULL) < 0) {
        rte_mempool_free(pool);
        return NULL;
    }
    rte_pktmbuf_pool_init(pool, (void *)(uintptr_t)&room);
    if ((across ? populate_across_pages(pool, node) : rte_mempool_populate_default(pool)) < 0) {
        rte_mempool_free(pool);
        return NULL;
    }
    rte_mempool_obj_iter(pool, rte_pktmbuf_init, NULL);
    return pool;
}

struct rte_mempool *buffers_make(const char *name, unsigned n, unsigned cache, uint16_t bytes, int node)
{
    struct rte_mempool *pool = make_on(node < 0 ? SOCKET_ID_ANY : node, name, n, cache, bytes);

    if (pool != NULL || node < 0)
        return pool;
    log_warning("NUMA node %d has no memory for %u packet buffers, so they are far from its NICs, which is "
                "slower: give it more hugepages "
                "(/sys/devices/system/node/node%d/hugepages/hugepages-2048kB/nr_hugepages, of 2 MB)",
                node, n, node);
    return make_on(SOCKET_ID_ANY, name, n, cache, bytes);
}

size_t buffers_bytes(unsigned n, uint16_t bytes)
{
    return (size_t)n * rte_mempool_calc_obj_size((uint32_t)element_bytes(bytes), 0, NULL);
}
