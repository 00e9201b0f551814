#include "transfer/parts.h"

#include "transfer/chunks.h"
#include "wire/bytes.h"
#include "wire/crc32c.h"

/* Of one segment. */
static void add_segment(struct xfer_part *part, const struct xfer_call *call, bool owner_adds,
                        const struct xfer_segment *g)
{
    const bool has_in = g->in != NULL, has_out = g->out != NULL;

    part->whole &= has_out;
    if (call->collective == XFER_REDUCE_SCATTER) {
        part->brings |= !(owner_adds && has_out);
        part->gets |= has_out;
    } else {
        part->brings |= has_in;
        part->gets |= has_out && !has_in;
    }
}

struct xfer_part xfer_part_in(const struct xfer_call *call, unsigned rank, bool owner_adds,
                              const struct xfer_pieces *result)
{
    struct xfer_part part = {.whole = true};
    struct xfer_pieces rest = *result;

    if (call->collective == XFER_BARRIER)
        return part;
    if (!xfer_copies(call->collective) && call->collective != XFER_REDUCE_SCATTER)
        return (struct xfer_part){true, xfer_gives(call->collective, call->root, rank), true};
    if (result->bytes == 0)
        return part;
    for (; !xfer_pieces_whole(&rest); xfer_pieces_pass(&rest))
        add_segment(&part, call, owner_adds, rest.segment);
    add_segment(&part, call, owner_adds, rest.segment);
    return part;
}

bool xfer_owner_adds(const struct agg_kernels *kernels, const struct xfer_call *call, unsigned ranks)
{
    return call->collective == XFER_REDUCE_SCATTER && ranks > 1 &&
           kernels->operations[agg_code(call->type, call->op)].finish == NULL;
}

/* Where a chunk begins, the first one from this byte on or, if it is to be `before`, the last one up to it.
 */
static uint64_t border(size_t chunk_bytes, size_t element, uint64_t byte, bool before)
{
    const size_t open = xfer_chunk_open_bytes(chunk_bytes, element);
    const size_t data = xfer_chunk_data_bytes(chunk_bytes, element);

    if (byte == 0)
        return 0;
    if (byte < open)
        return before ? 0 : open;
    return open + (byte - open + (before ? 0 : data - 1)) / data * data;
}

void xfer_own_chunks(size_t chunk_bytes, size_t element, uint64_t tensor_bytes, uint64_t block_first,
                     uint64_t block_end, uint64_t *first, uint64_t *end)
{
    *first = border(chunk_bytes, element, block_first, false);
    *end = block_end == tensor_bytes ? tensor_bytes : border(chunk_bytes, element, block_end, true);
    if (*first >= *end)
        *first = *end = block_end;
}

uint64_t xfer_interleaved_column(uint8_t collective, uint64_t chunks, unsigned ranks)
{
    const bool interleaves =
        xfer_has_blocks(collective) || collective == XFER_GATHER || collective == XFER_SCATTER;

    return interleaves ? chunks / (XFER_STRETCH * (uint64_t)ranks) * XFER_STRETCH : 0;
}

uint64_t xfer_interleaved(uint64_t i, uint64_t column, unsigned ranks)
{
    const uint64_t stretch = i / XFER_STRETCH;

    if (i >= column * ranks)
        return i;
    return stretch % ranks * column + stretch / ranks * XFER_STRETCH + i % XFER_STRETCH;
}

uint32_t xfer_blocks_hash(const uint64_t lengths[], size_t n)
{
    uint32_t hash = 0;

    for (size_t i = 0; i < n; i++) {
        uint8_t length[8];

        put_be64(length, lengths[i]);
        hash = crc32c(hash, length, sizeof length);
    }
    return hash;
}
