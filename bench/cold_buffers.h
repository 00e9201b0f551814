/* Of a pool's buffers: what is in no cache, and what is in this CPU's. */
#pragma once

#include <rte_mbuf.h>

/* Out of every cache. */
void cold_put_out_buffers(struct rte_mempool *mbufs);

/* Headers of buffers, and of the frames in them, come into the caches. */
void cold_bring_in(struct rte_mbuf *const m[], unsigned n);
