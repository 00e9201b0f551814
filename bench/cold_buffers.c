#include "cold_buffers.h"

#include "cold.h"

static void put_out_part(struct rte_mempool *mbufs, void *unused, struct rte_mempool_memhdr *memory,
                         unsigned index)
{
    (void)mbufs;
    (void)unused;
    (void)index;
    cold_put_out(memory->addr, memory->len);
}

void cold_put_out_buffers(struct rte_mempool *mbufs)
{
    rte_mempool_mem_iter(mbufs, put_out_part, NULL);
}

void cold_bring_in(struct rte_mbuf *const m[], unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        for (const struct rte_mbuf *part = m[i]; part != NULL; part = part->next)
            (void)*rte_pktmbuf_mtod(part, const volatile uint8_t *);
}
