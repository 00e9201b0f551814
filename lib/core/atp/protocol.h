/* ATP as two of the protocols that a switch or a server speaks (protocol/protocol.h): a parameter server,
 * whose jobs are joined like SwitchML's, each with a collector of its own; and a switch on the way, whose
 * only job is of its configuration and has no members: number 0, its pool the table that all ATP jobs share.
 * A packet to others on the servers' ports, or from them, belongs to that one. */
#pragma once

#include "protocol/protocol.h"

extern const struct agg_protocol atp_protocol;
extern const struct agg_protocol atp_switch_protocol;

/* As in struct agg_protocol. */
void atp_describe(struct agg_line *l, const struct agg_words *how, const uint8_t *payload, size_t bytes);
