/* SwitchML as one of the protocols that a switch speaks (protocol/protocol.h). */
#pragma once

#include "protocol/protocol.h"
#include "switchml/reasons.h"
#include "switchml/terms.h"
#include "switchml/worker.h"

extern const struct agg_protocol sml_protocol;

/* What a pool is to be like under these terms; false: they are not SwitchML's. */
bool sml_pool_config_of(const struct agg_pool_config *cfg, struct sml_pool_config *out);

/* What the table has in common with that of jobs in trees (relay/protocol.h), whose pools are others. */
void sml_protocol_drain(void *pool, void (*release)(void *buffer));
bool sml_protocol_heard(void *pool);
void sml_protocol_locate(const struct agg_jobs *jobs, struct agg_packet p[], unsigned n);
unsigned sml_protocol_apply(struct agg_packet p[], unsigned n, uint64_t now, struct agg_verdict *v);
void sml_protocol_describe(struct agg_line *l, const struct agg_words *how, const uint8_t *payload,
                           size_t bytes);
size_t sml_protocol_refuse(const struct agg_packet *p, uint64_t boot_id, uint8_t answer[AGG_ANSWER_BYTES]);
#define SML_PROTOCOL_COMMON                                                                                  \
    .name = "switchml", .id = AGG_PROTOCOL_SWITCHML, .worker = &sml_worker, .reason = sml_reasons,           \
    .reasons = SML_REASONS, .amiss = sml_amiss,                                                              \
    .udp_ports = {.first = SML_PORT_FIRST, .last = SML_PORT_LAST}, .header_bytes = SML_HEADER_BYTES,         \
    .shard_key = {.at = 6, .mask = SML_MAX_SLOTS - 1}, .check = sml_terms_check, .differ = sml_terms_differ, \
    .grant = sml_terms_grant, .lower = sml_terms_lower, .list = sml_terms_list, .drain = sml_protocol_drain, \
    .quorum = sml_terms_quorum, .heard = sml_protocol_heard, .locate = sml_protocol_locate,                  \
    .apply = sml_protocol_apply, .refuse = sml_protocol_refuse, .describe = sml_protocol_describe
