#include <math.h>
#include <string.h>

#include "random/splitmix.h"
#include "reference_parts.h"

/* Factors are powers of two, of complex numbers 1 and -1; others sixty-fourths, of 16 bits whole numbers: so
 * few digits that nothing is rounded. */
static double tame_float(unsigned code, unsigned type, uint64_t random)
{
    static const double factors[] = {1, -1, 2, -2, 0.5, -0.5};
    const bool factor = agg_code_op(code) == AGG_PROD, complex = agg_code_type(code) >= AGG_C64;

    if (factor)
        return factors[random % (complex ? 2 : 6)];
    if (half_is(type))
        return (double)((int)(random % 3) - 1);
    return (double)((int)(random % 129) - 64) / 64;
}

static void put_float(unsigned type, char *p, double x)
{
    const float f = (float)x;

    if (type == AGG_F32) {
        memcpy(p, &f, sizeof f);
    } else if (type == AGG_F64) {
        memcpy(p, &x, sizeof x);
    } else {
        const uint16_t h = half_put(half_of(type), x);
        memcpy(p, &h, sizeof h);
    }
}

static void put_tame(unsigned code, unsigned type, uint64_t random, char *p)
{
    if (integer_bytes(type) != 0)
        integer_put(type, p, random);
    else
        put_float(type, p, tame_float(code, type, random));
}

/* Zeros, extremes, infinities, NaN, the least. */
static void put_special(unsigned type, uint64_t random, char *p)
{
    static const double floats[] = {0.0, -0.0, 1.0, -1.0, INFINITY, -INFINITY, NAN};
    static const uint64_t integers[] = {0, 1, UINT64_MAX, 2};
    const size_t bytes = part_bytes(type);
    const uint64_t sign = UINT64_C(1) << (8 * bytes - 1);
    const uint64_t bits = integers[random % 4] ^ (random >> 32 & 1 ? sign : 0);

    if (integer_bytes(type) != 0 || random >> 33 & 1)
        copy_number(p, &bits, bytes);
    else
        put_float(type, p, floats[random % 7]);
}

/* Contributions differ little in an index or value, so that some are equal. */
static void put_number(unsigned code, unsigned type, uint64_t *state, bool tame, char *p)
{
    const uint64_t kind = splitmix_next(state), random = splitmix_next(state);

    if (tame || kind % 4 == 0)
        put_tame(code, type, kind % 8 == 0 ? random % 4 : random, p);
    else if (kind % 4 == 1)
        put_special(type, random, p);
    else
        copy_number(p, &random, part_bytes(type));
}

void reference_fill(unsigned code, uint64_t *state, bool tame, void *elements, size_t count)
{
    const size_t bytes = agg_code_bytes(code);
    unsigned types[2], parts = parts_of(code, types);
    char *p = elements;

    for (size_t i = 0; i < count; i++, p += bytes) {
        if (parts == 1) {
            splitmix_skip(state, 2);
            put_number(code, types[0], state, tame, p);
            continue;
        }
        const uint64_t padding[2] = {splitmix_next(state), splitmix_next(state)};
        memcpy(p, padding, bytes);
        put_number(code, types[0], state, tame, p);
        put_number(code, types[1], state, tame, p + bytes / 2);
    }
}
