/* How a collective is cut into one stream's packets. Chunk c of the call goes to server c % servers, and each
 * server's first one carries the descriptor of the call, so it is shorter by that. Where elements have
 * exponents, packet i carries the numbers of the stream's block i - lead and the exponent of its block i, as
 * in SwitchML mode (switchml/blocks.h). Pure. */
#pragma once

#include "atp/terms.h"

struct atp_cut {
    uint64_t packets;    /* of this stream; 0: its server gets no part of the call */
    uint64_t lead;       /* in packets; 0: elements have no exponents */
    size_t element;      /* bytes that one takes in the tensor */
    uint64_t count;      /* elements of the call */
    uint64_t open, data; /* elements of a chunk with descriptor, and of the others */
    uint8_t server, servers;
};

/* Of a call that the format carries. */
struct atp_cut atp_cut_of(const struct atp_terms *terms, const struct xfer_call *call);

/* Whether the format carries the call. */
bool atp_cut_carries(const struct atp_terms *terms, const struct xfer_call *call);

/* The bytes of the tensor that packet i carries, or whose exponent it does (block); none: *bytes is 0. */
void atp_cut_span(const struct atp_cut *cut, uint64_t i, bool block, uint64_t *offset, size_t *bytes);
