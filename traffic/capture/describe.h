/* Packets in words: whose they are is known. Pure functions that append to a line. Untrusted, all of them. */
#pragma once

#include "protocol/protocol.h"
#include "protocol/words.h"

/* A UDP payload from or to a port of a protocol that describes its packets; or a path probe, which comes to
 * the same ports. */
void describe_packet(struct agg_line *l, const struct agg_words *how, const struct agg_protocol *protocol,
                     const uint8_t *payload, size_t bytes);

/* A control message: a UDP payload from or to port 0xBEDF. Takes over the terms that it grants a job. */
void describe_control(struct agg_line *l, struct agg_words *how, const uint8_t *payload, size_t bytes);
