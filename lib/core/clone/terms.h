/* The terms of a job of passing frames (protocol/terms.h), as a struct and as bytes. Nobody joins such a job:
 * its terms come from the switch's configuration. Pure and reentrant. */
#pragma once

#include "clone/layout.h"
#include "protocol/terms.h"

enum { CLN_TERMS_VERSION = 1, CLN_TERMS_BYTES = 34 };

struct cln_terms {
    uint8_t code; /* of operation and type (kernels.h) */
    bool collector;
    uint16_t slots;
    uint16_t chunk_bytes;
    uint32_t missing_after_ms;
    struct cln_layout layout;
};

/* Big endian: code, flags (1: a collector, 2: little-endian numbers), slots (2), chunk_bytes (2),
 * missing_after_ms (4), sequence_at (2), elements_at (2), match_at (2), match_bytes, a zero byte, match (8),
 * host (6), ether_type (2). */
void cln_terms_build(struct agg_terms *out, const struct cln_terms *t);

/* False: they are of another protocol or version, or too short. */
bool cln_terms_parse(struct cln_terms *t, const struct agg_terms *in);

/* As in struct agg_protocol. */
unsigned cln_terms_list(const struct agg_terms *terms, struct agg_term list[AGG_LISTED_TERMS]);
