#include "atp/cut.h"

bool atp_cut_carries(const struct atp_terms *terms, const struct xfer_call *call)
{
    if (xfer_has_exponents(terms->format))
        return xfer_blocks_carry(terms->format, call->type, call->op);
    return agg_element_size(call->type, call->op) != 0;
}

/* Chunks of the whole call; an empty one still takes its descriptor. */
static uint64_t chunks(const struct atp_cut *cut)
{
    const uint64_t opening = cut->open * cut->servers;

    if (cut->count <= opening)
        return cut->count == 0 ? 1 : (cut->count - 1) / cut->open + 1;
    return cut->servers + (cut->count - opening - 1) / cut->data + 1;
}

struct atp_cut atp_cut_of(const struct atp_terms *terms, const struct xfer_call *call)
{
    const size_t open_bytes = terms->chunk_bytes - XFER_CALL_BYTES;
    struct atp_cut cut = {.count = call->count, .server = terms->server, .servers = terms->servers};

    if (xfer_has_exponents(terms->format)) {
        const struct xfer_blocks b = xfer_blocks_of(terms->format, open_bytes, terms->window, call);
        cut.element = b.element;
        cut.open = cut.data = b.block;
        cut.lead = b.lead;
    } else {
        cut.element = agg_element_size(call->type, call->op);
        cut.open = open_bytes / cut.element;
        cut.data = terms->chunk_bytes / cut.element;
    }
    const uint64_t all = chunks(&cut);
    cut.packets = all / cut.servers + (all % cut.servers > cut.server);
    if (cut.lead > cut.packets)
        cut.lead = cut.packets;
    cut.packets += cut.lead;
    return cut;
}

void atp_cut_span(const struct atp_cut *cut, uint64_t i, bool block, uint64_t *offset, size_t *bytes)
{
    const uint64_t own = block ? i : i - cut->lead, c = own * cut->servers + cut->server;
    uint64_t first, n;

    *offset = 0;
    *bytes = 0;
    if ((!block && i < cut->lead) || (block && (cut->lead == 0 || i >= cut->packets - cut->lead)))
        return;
    if (c < cut->servers) {
        first = c * cut->open;
        n = cut->open;
    } else {
        first = cut->servers * cut->open + (c - cut->servers) * cut->data;
        n = cut->data;
    }
    if (first >= cut->count)
        return;
    *offset = first * cut->element;
    *bytes = (size_t)((cut->count - first < n ? cut->count - first : n) * cut->element);
}
