/* Collectives in which ranks bring and get different parts of a tensor (docs/protocol.md, "Contributions
 * without elements"): broadcast, all-gather, gather, scatter, whose elements are bytes; and reduce-scatter. A
 * rank's segments say which are whose: of a segment that it brings nothing of `in` is NULL, of one that it
 * gets nothing of `out` is. Pure and reentrant. */
#pragma once

#include "transfer/segments.h"
#include "wire/transfer.h"

/* Bytes that are copied: combined by AGG_BOR of AGG_U8, to which only one rank has something to add. */
static inline bool xfer_copies(uint8_t collective)
{
    return collective == XFER_BROADCAST || collective == XFER_ALLGATHER || collective == XFER_GATHER ||
           collective == XFER_SCATTER;
}

enum { XFER_STRETCH = 8 }; /* a few packets of one length, which a kernel takes as one */

/* Whether ranks compare how long their blocks are: struct xfer_call's root is their xfer_blocks_hash. */
static inline bool xfer_has_blocks(uint8_t collective)
{
    return collective == XFER_ALLGATHER || collective == XFER_REDUCE_SCATTER;
}

/* A rank's part in a chunk. */
struct xfer_part {
    bool brings; /* elements */
    bool gets;   /* some of the result */
    bool whole;  /* all of the result has a place, so that it can be handed back */
};

/* result: the chunk, as `out`. owner_adds: as xfer_owner_adds. */
struct xfer_part xfer_part_in(const struct xfer_call *call, unsigned rank, bool owner_adds,
                              const struct xfer_pieces *result);

/* Whether the owner of a chunk of a reduce-scatter brings nothing to it, and adds its own to the sum of the
 * others at the end. Where sums are rounded or divided once it cannot, nor without others. */
bool xfer_owner_adds(const struct agg_kernels *kernels, const struct xfer_call *call, unsigned ranks);

/* The bytes of a block of a tensor that are of chunks which are wholly within it; none: *first == *end. */
void xfer_own_chunks(size_t chunk_bytes, size_t element, uint64_t tensor_bytes, uint64_t block_first,
                     uint64_t block_end, uint64_t *first, uint64_t *end);

/* The order in which a call's chunks leave: for `stretch` chunks of one column, as many of the next, and so
 * on; a column has as many chunks as any other, so where blocks are of one length it is a rank's block. So
 * all links are in use all the time, of which each would rest while its own rank's block is on the way.
 *
 * The chunks of a column; 0: they leave in the tensor's order. chunks: of the call. */
uint64_t xfer_interleaved_column(uint8_t collective, uint64_t chunks, unsigned ranks);

/* The chunk that leaves as the i-th, i < chunks. column: as above. What columns leave over comes last. */
uint64_t xfer_interleaved(uint64_t i, uint64_t column, unsigned ranks);

/* lengths: of all ranks' blocks, in elements. */
uint32_t xfer_blocks_hash(const uint64_t lengths[], size_t n);
