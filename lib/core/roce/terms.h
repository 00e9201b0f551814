/* The terms of a job of SwitchML's RDMA clients (protocol/terms.h), as a struct and as bytes. Nobody joins
 * such a job: its terms come from the switch's configuration. Pure and reentrant. */
#pragma once

#include "protocol/terms.h"

enum { RCE_TERMS_VERSION = 1, RCE_TERMS_BYTES = 8 };

struct rce_terms {
    uint16_t queue_pairs;  /* of each worker: messages that it may have under way */
    uint16_t packet_bytes; /* of elements in each packet */
    uint16_t packets;      /* of a message */
};

/* Big endian: queue_pairs, packet_bytes, packets (2 each), 2 zero bytes. */
void rce_terms_build(struct agg_terms *out, const struct rce_terms *t);

/* False: they are of another protocol or version, or too short. */
bool rce_terms_parse(struct rce_terms *t, const struct agg_terms *in);

/* As in struct agg_protocol. */
unsigned rce_terms_list(const struct agg_terms *terms, struct agg_term list[AGG_LISTED_TERMS]);
