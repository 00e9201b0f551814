/* CRC32C: the published vectors, and every implementation against the definition. */
#include "wire/crc32c.h"

#include <string.h>

#include "crc_by_definition.h"
#include "random.h"
#include "unit.h"

enum { BYTES_MAX = 9100 };

#define POLYNOMIAL UINT32_C(0x82f63b78)

/* All there are on this CPU; returns how many. */
static unsigned implementations(crc32c_fn *out[3])
{
    unsigned n = 0;

    out[n++] = crc32c;
    out[n++] = crc32c_scalar;
    if (crc32c_vector() != NULL)
        out[n++] = crc32c_vector();
    return n;
}

/* RFC 3720, appendix B.4, and the check value of the catalogues. */
TEST(published_vectors)
{
    static const uint8_t command[48] = {
        0x01, 0xc0, [16] = 0x14, [22] = 0x04, [27] = 0x14, [31] = 0x18, 0x28, [40] = 0x02};
    uint8_t zeros[32] = {0}, ones[32], rising[32], falling[32];
    crc32c_fn *crc[3];
    unsigned n = implementations(crc);

    memset(ones, 0xff, sizeof ones);
    for (unsigned i = 0; i < 32; i++) {
        rising[i] = (uint8_t)i;
        falling[i] = (uint8_t)(31 - i);
    }
    for (unsigned i = 0; i < n; i++) {
        CU_ASSERT_EQUAL(crc[i](0, zeros, 32), 0x8a9136aa);
        CU_ASSERT_EQUAL(crc[i](0, ones, 32), 0x62a8ab43);
        CU_ASSERT_EQUAL(crc[i](0, rising, 32), 0x46dd794e);
        CU_ASSERT_EQUAL(crc[i](0, falling, 32), 0x113fdb5c);
        CU_ASSERT_EQUAL(crc[i](0, command, 48), 0xd9963a56);
        CU_ASSERT_EQUAL(crc[i](0, "123456789", 9), 0xe3069283);
        CU_ASSERT_EQUAL(crc[i](0, NULL, 0), 0);
    }
}

/* Any length at any alignment, whole and in two pieces. */
TEST(all_agree_with_the_definition)
{
    static uint8_t memory[BYTES_MAX + 64];
    uint64_t rng = rng_seed(1);
    crc32c_fn *crc[3];
    unsigned n = implementations(crc), wrong = 0;

    for (unsigned round = 0; round < 600; round++) {
        size_t bytes = rng_below(&rng, round % 3 == 0 ? BYTES_MAX : 80);
        uint8_t *at = memory + rng_below(&rng, 64);
        size_t cut = rng_below(&rng, (uint32_t)bytes + 1);

        for (size_t i = 0; i < bytes; i++)
            at[i] = (uint8_t)rng_next(&rng);
        uint32_t want = crc_by_definition(POLYNOMIAL, at, bytes);
        for (unsigned i = 0; i < n; i++)
            wrong +=
                crc[i](0, at, bytes) != want || crc[i](crc[i](0, at, cut), at + cut, bytes - cut) != want;
    }
    CU_ASSERT_EQUAL(wrong, 0);
}

/* What it is for: one or two flipped bits anywhere in a packet never go unnoticed. */
TEST(flipped_bits_are_seen)
{
    uint8_t packet[1470];
    uint64_t rng = rng_seed(2);
    unsigned unseen = 0;

    for (size_t i = 0; i < sizeof packet; i++)
        packet[i] = (uint8_t)rng_next(&rng);
    uint32_t sound = crc32c(0, packet, sizeof packet);
    for (size_t bit = 0; bit < 8 * sizeof packet; bit++) {
        size_t other = rng_below(&rng, 8 * sizeof packet);

        packet[bit / 8] ^= (uint8_t)(1 << bit % 8);
        unseen += crc32c(0, packet, sizeof packet) == sound;
        packet[other / 8] ^= (uint8_t)(1 << other % 8);
        unseen += other != bit && crc32c(0, packet, sizeof packet) == sound;
        packet[other / 8] ^= (uint8_t)(1 << other % 8);
        packet[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    CU_ASSERT_EQUAL(unseen, 0);
}
