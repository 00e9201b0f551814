/* Packet buffers: as many as were asked for, close together, and each has the address that a NIC is to write
 * to. */
#include "port/buffers.h"

#include <stdio.h>

#include <rte_mbuf.h>

#include "small_eal.h"
#include "unit.h"

enum { BUFFERS = 1000, BYTES = 2176 };

static void count_usable(struct rte_mempool *pool, void *usable, void *buffer, unsigned i)
{
    const struct rte_mbuf *m = buffer;

    (void)pool;
    (void)i;
    *(unsigned *)usable += rte_mbuf_iova_get(m) == rte_mem_virt2iova(m->buf_addr) && m->buf_len == BYTES;
}

TEST(a_nic_can_use_every_buffer)
{
    struct rte_mempool *pool = buffers_make("usable", BUFFERS, 32, BYTES, SOCKET_ID_ANY);
    unsigned usable = 0;

    CU_ASSERT_PTR_NOT_NULL_FATAL(pool);
    CU_ASSERT_EQUAL(rte_mempool_avail_count(pool), BUFFERS - 1);
    rte_mempool_obj_iter(pool, count_usable, &usable);
    CU_ASSERT_EQUAL(usable, BUFFERS - 1);
    CU_ASSERT_FALSE(pool->flags & RTE_MEMPOOL_F_NON_IO); /* drivers that register memory pass those over */
    rte_mempool_free(pool);
}

TEST(their_memory_is_what_was_said_and_comes_back)
{
    for (unsigned i = 0; i < 20; i++) { /* all of them together would not fit */
        struct rte_mempool *pool = buffers_make("again", 2 * BUFFERS, 32, BYTES, SOCKET_ID_ANY);
        size_t bytes = 0;

        CU_ASSERT_PTR_NOT_NULL_FATAL(pool);
        for (struct rte_mempool_memhdr *chunk = STAILQ_FIRST(&pool->mem_list); chunk != NULL;
             chunk = STAILQ_NEXT(chunk, next))
            bytes += chunk->len;
        CU_ASSERT(bytes <= buffers_bytes(2 * BUFFERS, BYTES));
        rte_mempool_free(pool);
    }
}

/* The number is none of a node's, so nothing is there. */
TEST(where_their_node_has_no_memory_they_are_elsewhere)
{
    struct rte_mempool *pool = buffers_make("far", BUFFERS, 32, BYTES, RTE_MAX_NUMA_NODES);

    CU_ASSERT_PTR_NOT_NULL_FATAL(pool);
    CU_ASSERT_EQUAL(rte_mempool_avail_count(pool), BUFFERS - 1);
    rte_mempool_free(pool);
}

TEST(too_many_are_refused)
{
    CU_ASSERT_PTR_NULL(buffers_make("too_many", 100 * BUFFERS, 32, BYTES, SOCKET_ID_ANY));
}

int main(void)
{
    if (small_eal_start(64) < 0)
        return 1;
    return unit_main();
}
