/* Packet buffers that all devices can use: NICs by the addresses that their IOMMU, or they themselves, know.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct rte_mempool;

/* n buffers for frames of so many bytes, headroom included; cache: how many an lcore may set aside; node: the
 * NUMA node that they are best on, negative: any. If that has no memory they are elsewhere, which is logged.
 * NULL: no memory. The caller's, to rte_mempool_free(). */
struct rte_mempool *buffers_make(const char *name, unsigned n, unsigned cache, uint16_t bytes, int node);

/* The memory that they take. */
size_t buffers_bytes(unsigned n, uint16_t bytes);
