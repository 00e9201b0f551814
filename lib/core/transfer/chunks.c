#include "transfer/chunks.h"

uint64_t xfer_chunk_count(size_t chunk_bytes, size_t element, uint64_t tensor_bytes)
{
    uint64_t open = xfer_chunk_open_bytes(chunk_bytes, element);
    uint64_t data = xfer_chunk_data_bytes(chunk_bytes, element);

    if (tensor_bytes <= open)
        return 1;
    return 1 + (tensor_bytes - open - 1) / data + 1;
}

void xfer_chunk_span(size_t chunk_bytes, size_t element, uint64_t tensor_bytes, uint64_t c, uint64_t *offset,
                     size_t *bytes)
{
    uint64_t open = xfer_chunk_open_bytes(chunk_bytes, element);
    uint64_t data = xfer_chunk_data_bytes(chunk_bytes, element);
    uint64_t most = c == 0 ? open : data;

    *offset = c == 0 ? 0 : open + (c - 1) * data;
    *bytes = (size_t)(tensor_bytes - *offset < most ? tensor_bytes - *offset : most);
}

uint64_t xfer_chunk_with(size_t chunk_bytes, size_t element, uint64_t i)
{
    const uint64_t first = xfer_chunk_open_bytes(chunk_bytes, element) / element;

    return i < first ? 0 : 1 + (i - first) / (xfer_chunk_data_bytes(chunk_bytes, element) / element);
}
