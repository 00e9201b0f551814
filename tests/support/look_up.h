/* Calls that look up (switchml/elements.h), for tests: tables, and sums computed one by one from what
 * docs/protocol.md says of how indices are packed. */
#pragma once

#include <string.h>

#include "random.h"
#include "switchml/elements.h"

/* A table whose values fit the sum of so many ranks', as large as they may be. */
static inline struct sml_table look_up_table(uint64_t *rng, uint8_t code, unsigned ranks)
{
    struct sml_table t = {.code = code};
    const unsigned last = (1u << sml_index_bits(code)) - 1;
    unsigned most = ((1u << sml_sum_bits(code)) - 1) / ranks;

    most = most > UINT8_MAX ? UINT8_MAX : most;
    for (unsigned i = 1; i < last; i++)
        t.values[i] =
            (uint8_t)(t.values[i - 1] + 1 + rng_below(rng, (most - t.values[i - 1] - 1) / (last - i + 1)));
    t.values[last] = (uint8_t)most;
    return t;
}

/* Index i of a packed element. */
static inline unsigned look_up_index(const uint8_t *packed, unsigned bits, unsigned i)
{
    if (bits == 4)
        return packed[i % 32] >> i / 32 * 4 & 15;
    const unsigned low = bits >= 2 ? packed[i % 16] >> i / 16 * 2 & 3 : 0;
    const unsigned high = bits % 2 != 0 ? packed[bits / 2 * 16 + i % 8] >> i / 8 & 1 : 0;
    return low | high << (bits - 1);
}

/* Adds a contribution of so many elements to sums as they travel. */
static inline void look_up_add(const struct sml_table *t, uint8_t *sums, const uint8_t *packed,
                               uint64_t elements)
{
    const struct sml_element e = sml_element_of(t->code);
    const size_t width = e.out / SML_GROUP;

    for (uint64_t i = 0; i < elements * SML_GROUP; i++) {
        const uint8_t *group = packed + i / SML_GROUP * e.in;
        uint8_t *sum = sums + i * width;
        const unsigned value = t->values[look_up_index(group, sml_index_bits(t->code), i % SML_GROUP)];
        const unsigned now = (width == 2 ? sum[0] | sum[1] << 8 : sum[0]) + value;

        sum[0] = (uint8_t)now;
        if (width == 2)
            sum[1] = (uint8_t)(now >> 8);
    }
}
