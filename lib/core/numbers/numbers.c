#include "numbers/numbers.h"

#include <math.h>
#include <string.h>

#include "kernels/half.h"
#include "numbers/numbers_loops.h"

static double power_of_two(int exponent)
{
    const uint64_t bits = (uint64_t)(1023 + exponent) << 52; /* of a normal double */
    double x;

    memcpy(&x, &bits, sizeof x);
    return x;
}

struct num_scale num_scale(enum num_wire wire, unsigned ranks, int8_t exponent)
{
    const double most = ranks <= NUM_RANKS_AS_PUBLISHED ? INT32_MAX : 0x1p31 - ranks;

    if (exponent == NUM_NOT_FINITE)
        return (struct num_scale){0, NAN};
    if (wire == NUM_FP16)
        return (struct num_scale){power_of_two(-exponent), power_of_two(exponent)};
    return (struct num_scale){most / ranks * power_of_two(-exponent), ranks / most * power_of_two(exponent)};
}

static float element_at(enum num_type type, const void *block)
{
    uint16_t half;
    float x;

    if (type == NUM_F32) {
        memcpy(&x, block, sizeof x);
        return x;
    }
    memcpy(&half, block, sizeof half);
    return agg_half_to_float(half);
}

static void add_to_int32(uint8_t *wire, int32_t step)
{
    uint32_t q;

    memcpy(&q, wire, sizeof q);
    q = __builtin_bswap32(__builtin_bswap32(q) + (uint32_t)step);
    memcpy(wire, &q, sizeof q);
}

/* Where an element is a power of two, the nearest integer may be none of those that become this element:
 * below it floats are twice as close as above, so they may all lie above it. Then the next one is. And a half
 * of -0 was a small negative sum. */
static void mend_int32(const struct num_loops *loops, enum num_type type, uint8_t *w, const uint8_t *b,
                       size_t n, double back)
{
    for (size_t i = 0; i < n; i++, b += num_type_bytes(type), w += num_wire_bytes(NUM_INT32)) {
        const float element = element_at(type, b);
        float again;

        loops->back[NUM_INT32][NUM_F32](&again, w, 1, back);
        if (type == NUM_F16)
            again = agg_half_to_float(agg_float_to_half(again));
        if (agg_bits_of_float(again) != agg_bits_of_float(element) && isfinite(element))
            add_to_int32(w, again < element ? 1 : -1);
    }
}

/* The nearest half is always right, but for -0: that was a small negative sum, and becomes one. */
static void mend_fp16(enum num_type type, uint8_t *w, const uint8_t *b, size_t n)
{
    const uint16_t least_negative = 0x8001;

    for (size_t i = 0; i < n; i++, b += num_type_bytes(type), w += num_wire_bytes(NUM_FP16))
        if (agg_bits_of_float(element_at(type, b)) == 0x80000000)
            memcpy(w, &least_negative, sizeof least_negative);
}

void num_out_sums(const struct num_loops *loops, enum num_wire to, enum num_type type, void *wire,
                  const void *block, size_t n, const struct num_scale *factor)
{
    loops->out[to][type](wire, block, n, factor->out);
    if (to == NUM_INT32)
        mend_int32(loops, type, wire, block, n, factor->back);
    else
        mend_fp16(type, wire, block, n);
}

const struct num_loops *num_loops_for(const struct agg_kernels *kernels)
{
    const struct num_loops *l;

    for (unsigned i = 0; (l = num_loops_here(i)) != NULL; i++)
        if (strcmp(kernels->name, l->name) == 0)
            return l;
    return &num_loops_scalar;
}
