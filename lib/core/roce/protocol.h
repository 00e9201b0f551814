/* SwitchML by RDMA, at the switch: a table that daemon, simulator and tests carry packets by. Nobody joins
 * its jobs. */
#pragma once

#include "protocol/protocol.h"

extern const struct agg_protocol rce_protocol;

/* As in struct agg_protocol. */
void rce_describe(struct agg_line *l, const struct agg_words *how, const uint8_t *payload, size_t bytes);
