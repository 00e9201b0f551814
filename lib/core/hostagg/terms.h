/* The terms of a host-addressed job (protocol/terms.h), as a struct and as bytes. Nobody joins such a job:
 * its terms come from the switch's configuration. Pure and reentrant. */
#pragma once

#include "hostagg/pool.h"
#include "protocol/terms.h"

enum { HAG_TERMS_VERSION = 1, HAG_TERMS_BYTES = 8 };

struct hag_terms {
    enum hag_host host;
    uint8_t code; /* of operation and type (kernels.h) */
    uint16_t slots;
    uint16_t chunk_bytes;
};

/* Big endian: host, code, slots (2), chunk_bytes (2), 2 zero bytes. */
void hag_terms_build(struct agg_terms *out, const struct hag_terms *t);

/* False: they are of another protocol or version, or too short. */
bool hag_terms_parse(struct hag_terms *t, const struct agg_terms *in);

/* As in struct agg_protocol. */
unsigned hag_terms_list(const struct agg_terms *terms, struct agg_term list[AGG_LISTED_TERMS]);
