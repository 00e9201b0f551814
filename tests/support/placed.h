/* Pools and streams by SwitchML, each in memory of its own that is full of rubbish before: nothing may depend
 * on what it holds. Freed by free(). */
#pragma once

#include "memory.h"
#include "relay/slots.h"
#include "switchml/pool.h"
#include "switchml/stream.h"

/* bytes: a footprint, 0 where the settings are out of range. */
static inline void *rubbish_of(size_t bytes)
{
    return bytes == 0 ? NULL : memset(room_of(bytes), 0xa5, bytes);
}

static inline struct sml_pool *pool_of(const struct sml_pool_config *cfg)
{
    return sml_pool_init(rubbish_of(sml_pool_footprint(cfg)), cfg);
}

static inline struct sml_pool *relay_slots_of(const struct sml_pool_config *cfg, const struct agg_node *tree)
{
    return relay_slots_init(rubbish_of(relay_slots_footprint(cfg, tree)), cfg, tree);
}

/* The stream of a rank of the job that has this pool. */
static inline struct sml_stream_config stream_config_of(const struct sml_pool_config *pool, unsigned rank)
{
    return (struct sml_stream_config){.rank = (uint16_t)rank,
                                      .workers = pool->workers,
                                      .slots = pool->slots,
                                      .chunk_bytes = pool->chunk_bytes,
                                      .job = pool->job,
                                      .checksum = pool->checksum,
                                      .shared = pool->shared,
                                      .format = pool->format,
                                      .look_up = pool->table.code,
                                      .quorum = pool->quorum > 0,
                                      .empties = pool->empties,
                                      .first_tag = pool->first_tag,
                                      .kernels = pool->kernels};
}

static inline struct sml_stream *stream_of(const struct sml_stream_config *cfg)
{
    return sml_stream_init(rubbish_of(sml_stream_footprint(cfg)), cfg);
}

/* The head of a packet about this chunk of a sum of int32. */
static inline struct sml_packet sum_packet(enum sml_kind kind, uint32_t tag, uint16_t slots)
{
    return (struct sml_packet){.kind = kind,
                               .size_code = SML_SIZE_AGREED,
                               .tag = tag,
                               .slot = sml_tag_slot(tag, slots),
                               .ver = sml_tag_ver(tag, slots),
                               .e0 = agg_code(AGG_I32, AGG_SUM)};
}
