/* How tensors are cut into blocks. */
#include "random.h"
#include "thc/parts.h"
#include "unit.h"

/* The parts of a tensor, one after the other: they cover it, and only the last is filled up. */
static void expect_cover(uint64_t floats, uint32_t most)
{
    uint64_t at = 0, used = 0, parts = 0;
    uint32_t before = most;

    for (; at < thc_filled(floats); parts++) {
        const struct thc_part p = thc_part_at(floats, most, at);

        CU_ASSERT_FATAL(p.at == at && p.block >= THC_LEAST_BLOCK && p.block <= before);
        CU_ASSERT((p.block & (p.block - 1)) == 0);
        CU_ASSERT(p.used == p.block || at + p.block == thc_filled(floats));
        before = p.block;
        used += p.used;
        at += p.block;
    }
    CU_ASSERT_EQUAL(at, thc_filled(floats));
    CU_ASSERT(used == floats && at - floats < THC_LEAST_BLOCK);
    CU_ASSERT_EQUAL(thc_parts(floats, most), parts);
}

TEST(parts_cover_a_tensor)
{
    uint64_t rng = rng_seed(5);

    for (uint64_t floats = 1; floats < 3000; floats++)
        expect_cover(floats, 1024);
    for (unsigned i = 0; i < unit_cases(2000); i++)
        expect_cover(1 + rng_below(&rng, 1 << 20), 64u << rng_below(&rng, 15));
}

TEST(some_lengths)
{
    const struct thc_part first = thc_part_at(1400, 1024, 0), second = thc_part_at(1400, 1024, 1024),
                          last = thc_part_at(1400, 1024, 1280);

    CU_ASSERT(first.block == 1024 && second.block == 256 && last.block == 128 && last.used == 120);
    CU_ASSERT_EQUAL(thc_parts(1400, 1024), 3);
    CU_ASSERT_EQUAL(thc_parts(1, 1 << 30), 1);
}
