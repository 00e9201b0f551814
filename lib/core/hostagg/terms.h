/* The terms of a host-addressed job (protocol/terms.h), as a struct and as bytes. Nobody joins such a job:
 * its terms come from the switch's configuration. Pure and reentrant. */
#ifndef SWAGG_CORE_HOSTAGG_TERMS_H
#define SWAGG_CORE_HOSTAGG_TERMS_H

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

/* The functions of struct agg_protocol on terms. */
bool hag_terms_check(const struct agg_terms *wish, bool resumes, char why[AGG_TEXT_MAX]);
bool hag_terms_differ(const struct agg_terms *wish, const struct agg_terms *other, struct agg_difference *d);
bool hag_terms_grant(const struct agg_terms wish[], uint16_t n, const struct agg_limits *limits,
                     struct agg_terms *granted, struct agg_refusal *why);
bool hag_terms_lower(struct agg_terms *granted);
unsigned hag_terms_list(const struct agg_terms *terms, struct agg_term list[AGG_LISTED_TERMS]);

#endif
