/* Who is in the sums of a call, in a job with a quorum: what came with each result, against what the rank's
 * stream says, the sums themselves, and what other ranks have.
 *
 *   - A sum is exactly that of the ranks which its map names. They are a quorum, and have begun the call.
 *   - Ranks that have a chunk's sum have the same bits, of the same ranks.
 *   - What a rank could not get is 0; whether it is in it all the same, it is told truly. Roll and turnout
 * say nothing else than the maps. */
#pragma once

#include "oracle.h"
#include "switchml/stream.h"

struct attendance {
    size_t chunk_bytes;
    uint32_t next_tag; /* of the first chunk of the call at hand, or of the next call */
    uint64_t chunks;   /* of the call at hand */
    size_t names_bytes;
    uint8_t *names;         /* [chunks]: the map that came with the result; nobody: none came */
    struct xfer_roll *roll; /* [chunks] */
};

void attendance_init(struct attendance *a, uint16_t ranks, size_t chunk_bytes, uint32_t first_tag);

/* Before the stream begins this call, and after it. */
void attendance_begin(struct attendance *a, struct sml_stream *stream, const struct xfer_call *call);
void attendance_end(struct attendance *a, struct sml_stream *stream);

/* The stream has taken this packet as a result. */
void attendance_hear(struct attendance *a, const uint8_t *payload, size_t bytes);

/* The call has succeeded with these sums. left: without waiting for all of them. */
void attendance_check(const struct attendance *a, struct oracle *o, struct formation *f, unsigned rank,
                      unsigned call, const struct xfer_turnout *said, const uint8_t *sums, bool left);
