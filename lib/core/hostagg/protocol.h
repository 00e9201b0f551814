/* Host-addressed aggregation as one of the protocols that a switch speaks (protocol/protocol.h). */
#pragma once

#include "protocol/protocol.h"

extern const struct agg_protocol hag_protocol;

/* As in struct agg_protocol. */
void hag_describe(struct agg_line *l, const struct agg_words *how, const uint8_t *payload, size_t bytes);
