/* The kernels on vectors of VECTOR_BYTES. Included once by each implementation, which first defines
 *
 *     VECTOR_BYTES         a multiple of 16, at most 64
 *     swap_i32(v)          v, a vector of uint32_t, with the bytes of each element reversed
 *     widen_U16(v)         the elements of v, `halves`, which is half a vector of uint16_t, as uint32_t
 *     narrow_U32(v)        back; all elements of v are less than 2^16
 *     widen_F16, narrow_F16 between `halves` of binary16 and a vector of float; to nearest even
 *     NAME, TABLE          what the table is called, for people and for the linker
 *
 * and is compiled for its instruction set.
 */
#include "kernels/vector_halves.h"
#include "kernels/vector_pairs.h"
#include "kernels/vector_sum.h"

AGG_NUMBER_KERNELS(DEFINE_NUMBER)
AGG_ORDERED_HALVES(DEFINE_ORDERED_HALF)
AGG_WIDE_KERNELS(DEFINE_WIDE)
AGG_PAIR_KERNELS(DEFINE_PAIR)

static void convert_I32(void *dst, const void *src, size_t bytes)
{
    if (bytes < VECTOR_BYTES) {
        agg_kernels_scalar.convert[AGG_I32](dst, src, bytes);
        return;
    }
    I32_vector last = load_I32(src, bytes - VECTOR_BYTES);
    for (size_t at = 0; at + VECTOR_BYTES < bytes; at += VECTOR_BYTES) {
        I32_vector v = load_I32(src, at);
        memcpy((uint8_t *)dst + at, &v, sizeof v);
    }
    memcpy((uint8_t *)dst + bytes - VECTOR_BYTES, &last, sizeof last);
}

const struct agg_kernels TABLE = {
    .name = NAME,
    .ones_sum = ones_sum,
    .convert = {[AGG_I32] = convert_I32, [AGG_I64... AGG_C128] = agg_convert_same},
    .operations = {AGG_ENTRIES},
};
