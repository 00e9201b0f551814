/* Which aggregator a chunk is for (terms.h, enum atp_mapping). Workers choose for the first window of a job,
 * and so does the server, in the same way; after that each PARAMETER tells the index of the chunk that is a
 * window later. A rank sends that chunk only once it has the PARAMETER, so all ranks name the same one.
 * Pure. */
#pragma once

#include "atp/terms.h"
#include "random/splitmix.h"

static inline uint16_t atp_index_hashed(uint32_t life, uint32_t sequence)
{
    return (uint16_t)splitmix_hash((uint64_t)life << 32 | sequence);
}

/* Of a chunk of the first window. Neighbours in a window have different ones, unless they are hashed: one
 * step further each. Jobs' steps differ, as a rule: of two jobs that went on at one pace and by one step,
 * either no chunks would meet or all. Primes have no divisor in common with the usual numbers of aggregators.
 */
static inline uint16_t atp_index_first(enum atp_mapping mapping, uint32_t life, uint32_t sequence)
{
    static const uint8_t steps[] = {11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71};
    const uint64_t random = splitmix_hash(life);

    if (mapping == ATP_MAP_HASH)
        return atp_index_hashed(life, sequence);
    return (uint16_t)((random >> 32) + (uint64_t)sequence * steps[random % sizeof steps]);
}

/* Of the chunk `sequence`, whose predecessor in its place had this index; collided: and met another's. */
static inline uint16_t atp_index_next(enum atp_mapping mapping, uint32_t life, uint32_t sequence,
                                      uint16_t index, bool collided)
{
    if (mapping == ATP_MAP_HASH || (mapping == ATP_MAP_REMAP && collided))
        return atp_index_hashed(life, sequence);
    return index;
}
