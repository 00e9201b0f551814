#include "look_up.h"

/* `bits` bits of each index, from a plane whose bytes hold 8 / bits of them, far apart. */
static unsigned in_plane(const uint8_t *plane, unsigned bits, size_t i)
{
    const size_t bytes = SML_GROUP / 8 * bits;

    return plane[i % bytes] >> bits * (i / bytes) & ((1u << bits) - 1);
}

unsigned look_up_index(uint8_t code, const uint8_t *elements, size_t i)
{
    const unsigned bits = sml_index_bits(code), low_bits = bits == 4 ? 4 : bits / 2 * 2;
    const uint8_t *group = elements + i / SML_GROUP * sml_element_of(code).in;
    const unsigned low = low_bits > 0 ? in_plane(group, low_bits, i % SML_GROUP) : 0;

    return low_bits == bits ? low
                            : low | in_plane(group + SML_GROUP / 8 * low_bits, 1, i % SML_GROUP) << low_bits;
}

unsigned look_up_sum(uint8_t code, const uint8_t *elements, size_t i)
{
    return sml_sum_bits(code) == 8 ? elements[i] : elements[2 * i] | (unsigned)elements[2 * i + 1] << 8;
}
