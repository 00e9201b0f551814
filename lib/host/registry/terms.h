/* What the configuration allows a job: mtu, pool.slots_per_job.
 *
 * Pure, any thread.
 */
#pragma once

#include "config/config.h"
#include "protocol/protocol.h"

/* The length of the longest UDP payload that the ports carry. */
uint16_t terms_payload_bytes(const struct config *cfg);

/* Checks the terms of a job whose ranks are all there and share this (NULL: no secret), and lowers them to
 * the slots that a job may have. 0, or -EINVAL: the job is not within the limits; text says why and names the
 * key. */
int terms_check(const struct config *cfg, const struct agg_protocol *protocol, uint16_t ranks,
                const struct keys_secret *shared, struct agg_terms *terms, char text[AGG_TEXT_MAX]);

/* The same for what one process wishes for that is new, and says so to a switch above: how long its packets
 * are is not settled yet. */
int terms_check_wish(const struct config *cfg, const struct agg_protocol *protocol,
                     const struct keys_secret *shared, struct agg_terms *terms, char text[AGG_TEXT_MAX]);
