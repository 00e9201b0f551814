/* How a tensor is cut into chunks. Chunk 0 is shorter than the others, since its packet also carries the
 * descriptor of the call and must not exceed header + chunk_bytes. Shared by the worker, the switch's checks,
 * tests and benchmarks. */
#pragma once

#include "wire/transfer.h"

/* Bytes of elements in chunk 0 and in the others: the largest multiples of the element size that fit.
 * chunk_bytes is 4 * k as agreed at join, at least 64. */
static inline size_t xfer_chunk_open_bytes(size_t chunk_bytes, size_t element)
{
    return (chunk_bytes - XFER_CALL_BYTES) / element * element;
}
static inline size_t xfer_chunk_data_bytes(size_t chunk_bytes, size_t element)
{
    return chunk_bytes / element * element;
}

/* Chunks that a tensor of this many bytes takes; at least 1 (an empty tensor still takes its opening packet).
 */
uint64_t xfer_chunk_count(size_t chunk_bytes, size_t element, uint64_t tensor_bytes);

/* Offset and length in bytes of chunk c < xfer_chunk_count within the tensor. */
void xfer_chunk_span(size_t chunk_bytes, size_t element, uint64_t tensor_bytes, uint64_t c, uint64_t *offset,
                     size_t *bytes);

/* The chunk that has element i. */
uint64_t xfer_chunk_with(size_t chunk_bytes, size_t element, uint64_t i);
