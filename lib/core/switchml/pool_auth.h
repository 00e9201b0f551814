/* Keyed jobs: what a pool proves and believes (wire/auth.h). A part of pool_parts.h.
 */
#pragma once

#include "switchml/pool_state.h"

/* How often tags had wrapped before a chunk of this slot, less than 2^31 chunks from what the slot expects.
 */
static inline uint32_t sml_slot_wraps(const struct sml_pool *pool, struct sml_slot *slot, uint32_t tag)
{
    const unsigned ver = sml_tag_ver(slot->expected, pool->cfg.slots);
    const uint64_t expected = (uint64_t)sml_slot_result(pool, slot, ver)->wraps << 32 | slot->expected;

    return (uint32_t)((expected + (uint64_t)(int64_t)(int32_t)(tag - slot->expected)) >> 32);
}

/* The chunk that the slot expects is about to be complete: notes the number of the next one. */
static inline void sml_slot_number_next(const struct sml_pool *pool, struct sml_slot *slot)
{
    const uint32_t next = slot->expected + pool->cfg.slots;
    const uint32_t wraps = sml_slot_wraps(pool, slot, next);

    sml_slot_result(pool, slot, sml_tag_ver(next, pool->cfg.slots))->wraps = wraps;
}

/* Whether rank has sent this packet. call_bytes: that its body begins with. */
static inline bool sml_slot_believes(const struct sml_pool *pool, struct sml_slot *slot, uint16_t rank,
                                     const struct sml_packet *p, size_t call_bytes)
{
    const struct xfer_route route = {
        .sender = rank, .receiver = XFER_SWITCH, .wraps = sml_slot_wraps(pool, slot, p->tag)};

    return sml_auth_holds(pool->auth, &route, p, call_bytes);
}

/* Appends the authenticator to a payload of so many bytes about the chunk with this tag, which is for
 * receiver. head_bytes: of the header, with the call if there is one. */
static inline void sml_slot_prove(const struct sml_pool *pool, struct sml_slot *slot, uint32_t tag,
                                  uint16_t receiver, uint8_t *payload, size_t head_bytes, size_t bytes)
{
    const struct xfer_route route = {
        .sender = XFER_SWITCH, .receiver = receiver, .wraps = sml_slot_wraps(pool, slot, tag)};

    xfer_auth_build(payload + bytes, pool->auth, &route, payload, head_bytes, payload + head_bytes,
                    bytes - head_bytes);
}
