#include <string.h>

#include "random/splitmix.h"
#include "reference_parts.h"

unsigned reference_next(unsigned code)
{
    while (++code < AGG_CODES)
        if (agg_code_bytes(code) != 0)
            return code;
    return 0;
}

unsigned reference_any(uint64_t *state)
{
    unsigned code;

    do
        code = (unsigned)(splitmix_next(state) % AGG_CODES);
    while (agg_code_bytes(code) == 0);
    return code;
}

/* Integers */

static bool less(unsigned type, uint64_t a, uint64_t b)
{
    return integer_is_signed(type) ? (int64_t)a < (int64_t)b : a < b;
}

static uint64_t combine_integers(unsigned type, unsigned op, uint64_t a, uint64_t b)
{
    switch (op) {
    case AGG_SUM:
    case AGG_AVG:
        return a + b;
    case AGG_PROD:
        return a * b;
    case AGG_MIN:
        return less(type, b, a) ? b : a;
    case AGG_MAX:
        return less(type, a, b) ? b : a;
    case AGG_LAND:
        return a != 0 && b != 0;
    case AGG_LOR:
        return a != 0 || b != 0;
    case AGG_LXOR:
        return (a != 0) != (b != 0);
    case AGG_BAND:
        return type == AGG_BOOL ? a != 0 && b != 0 : a & b;
    case AGG_BOR:
        return type == AGG_BOOL ? a != 0 || b != 0 : a | b;
    default:
        return type == AGG_BOOL ? (a != 0) != (b != 0) : a ^ b;
    }
}

static void reduce_integers(unsigned type, unsigned op, void *out, const void *const in[], unsigned n,
                            size_t at)
{
    uint64_t x = integer_get(type, (const char *)in[0] + at);

    for (unsigned i = 1; i < n; i++) {
        x = combine_integers(type, op, x, integer_get(type, (const char *)in[i] + at));
        integer_put(type, (char *)out + at, x);
        x = integer_get(type, (char *)out + at);
    }
    if (op == AGG_AVG)
        x = integer_is_signed(type) ? (uint64_t)((int64_t)x / (int64_t)n) : x / n;
    integer_put(type, (char *)out + at, x);
}

/* Floats of 32 and 64 bits, and complex ones. */

#define DEFINE_REALS(real)                                                                                   \
    static real combine_##real(unsigned op, real a, real b)                                                  \
    {                                                                                                        \
        switch (op) {                                                                                        \
        case AGG_PROD:                                                                                       \
            return a * b;                                                                                    \
        case AGG_MIN:                                                                                        \
            return b < a ? b : a;                                                                            \
        case AGG_MAX:                                                                                        \
            return b > a ? b : a;                                                                            \
        default:                                                                                             \
            return a + b;                                                                                    \
        }                                                                                                    \
    }                                                                                                        \
                                                                                                             \
    static void reduce_##real(unsigned op, void *out, const void *const in[], unsigned n, size_t at)         \
    {                                                                                                        \
        real x, y;                                                                                           \
        memcpy(&x, (const char *)in[0] + at, sizeof x);                                                      \
        for (unsigned i = 1; i < n; i++) {                                                                   \
            memcpy(&y, (const char *)in[i] + at, sizeof y);                                                  \
            x = combine_##real(op, x, y);                                                                    \
        }                                                                                                    \
        if (op == AGG_AVG)                                                                                   \
            x /= (real)n;                                                                                    \
        memcpy((char *)out + at, &x, sizeof x);                                                              \
    }                                                                                                        \
                                                                                                             \
    /* Rounded after each multiplication, on machines that could do without, too. */                         \
    static void reduce_complex_##real(unsigned op, void *out, const void *const in[], unsigned n, size_t at) \
    {                                                                                                        \
        real x[2], y[2];                                                                                     \
        if (op != AGG_PROD) {                                                                                \
            reduce_##real(op, out, in, n, at);                                                               \
            reduce_##real(op, out, in, n, at + sizeof(real));                                                \
            return;                                                                                          \
        }                                                                                                    \
        memcpy(x, (const char *)in[0] + at, sizeof x);                                                       \
        for (unsigned i = 1; i < n; i++) {                                                                   \
            memcpy(y, (const char *)in[i] + at, sizeof y);                                                   \
            volatile real rr = x[0] * y[0], ii = x[1] * y[1], ri = x[0] * y[1], ir = x[1] * y[0];            \
            x[0] = rr - ii;                                                                                  \
            x[1] = ri + ir;                                                                                  \
        }                                                                                                    \
        memcpy((char *)out + at, x, sizeof x);                                                               \
    }
DEFINE_REALS(float)
DEFINE_REALS(double)

/* Floats of 16 bits */

static void reduce_halves(unsigned type, unsigned op, void *out, const void *const in[], unsigned n,
                          size_t at)
{
    const struct half *h = half_of(type);
    float x = 0;

    for (unsigned i = 0; i < n; i++) {
        uint16_t bits;
        memcpy(&bits, (const char *)in[i] + at, sizeof bits);
        float y = (float)half_get(h, bits);
        x = i == 0 ? y : combine_float(op, x, y);
    }
    if (op == AGG_AVG)
        x /= (float)n;
    uint16_t bits = half_put(h, x);
    memcpy((char *)out + at, &bits, sizeof bits);
}

/* Pairs */

static void reduce_pairs(unsigned type, unsigned op, void *out, const void *const in[], unsigned n, size_t at)
{
    const unsigned index_type = op == AGG_MINPAIR || op == AGG_MAXPAIR ? type : AGG_I32;
    const size_t v = part_bytes(type), k = part_bytes(index_type), all = agg_element_size(type, op);
    const int sign = op == AGG_MINLOC || op == AGG_MINPAIR ? 1 : -1;
    char acc[16], next[16];

    memcpy(acc, (const char *)in[0] + at, all);
    for (unsigned i = 1; i < n; i++) {
        memcpy(next, (const char *)in[i] + at, all);
        long double a = sign * part_get(type, acc), b = sign * part_get(type, next);
        bool lower = part_get(index_type, next + all / 2) < part_get(index_type, acc + all / 2);
        if (!(a < b)) {
            memcpy(acc, next, v);
            if (a != b || lower)
                memcpy(acc + all / 2, next + all / 2, k);
        }
    }
    memset((char *)out + at, 0, all);
    memcpy((char *)out + at, acc, v);
    memcpy((char *)out + at + all / 2, acc + all / 2, k);
}

void reference_reduce(unsigned code, void *out, const void *const in[], unsigned n, size_t count)
{
    const unsigned type = agg_code_type(code), op = agg_code_op(code);
    const size_t bytes = agg_code_bytes(code);

    for (size_t at = 0; at < count * bytes; at += bytes) {
        if (op >= AGG_MINLOC)
            reduce_pairs(type, op, out, in, n, at);
        else if (integer_bytes(type) != 0)
            reduce_integers(type, op, out, in, n, at);
        else if (half_is(type))
            reduce_halves(type, op, out, in, n, at);
        else if (type == AGG_F32)
            reduce_float(op, out, in, n, at);
        else if (type == AGG_F64)
            reduce_double(op, out, in, n, at);
        else if (type == AGG_C64)
            reduce_complex_float(op, out, in, n, at);
        else
            reduce_complex_double(op, out, in, n, at);
    }
}
