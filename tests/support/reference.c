#include "reference.h"

#include <math.h>
#include <string.h>

#include "random/splitmix.h"

static size_t element_bytes(unsigned code)
{
    return agg_element_size(code & 15, code >> 4);
}

unsigned reference_next(unsigned code)
{
    while (++code < AGG_CODES)
        if (element_bytes(code) != 0)
            return code;
    return 0;
}

unsigned reference_any(uint64_t *state)
{
    unsigned code;

    do
        code = (unsigned)(splitmix_next(state) % AGG_CODES);
    while (element_bytes(code) == 0);
    return code;
}

/* Integers, in 64 bits; what is written is cut off. */

static unsigned width_of(unsigned type)
{
    static const unsigned bytes[AGG_TYPES] = {
        [AGG_I8] = 1,  [AGG_I16] = 2, [AGG_I32] = 4, [AGG_I64] = 8, [AGG_U8] = 1,
        [AGG_U16] = 2, [AGG_U32] = 4, [AGG_U64] = 8, [AGG_BOOL] = 1};
    return bytes[type];
}

static bool is_signed(unsigned type)
{
    return type == AGG_I8 || type == AGG_I16 || type == AGG_I32 || type == AGG_I64;
}

static uint64_t get_integer(unsigned type, const void *p)
{
    unsigned bits = 8 * width_of(type);
    uint64_t x = 0;

    memcpy(&x, p, width_of(type));
    if (is_signed(type) && bits < 64 && x >> (bits - 1))
        x |= UINT64_MAX << bits;
    return x;
}

static void put_integer(unsigned type, void *p, uint64_t x)
{
    memcpy(p, &x, width_of(type));
}

static bool less(unsigned type, uint64_t a, uint64_t b)
{
    return is_signed(type) ? (int64_t)a < (int64_t)b : a < b;
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
    uint64_t x = get_integer(type, (const char *)in[0] + at);

    for (unsigned i = 1; i < n; i++) {
        x = combine_integers(type, op, x, get_integer(type, (const char *)in[i] + at));
        put_integer(type, (char *)out + at, x);
        x = get_integer(type, (char *)out + at);
    }
    if (op == AGG_AVG)
        x = is_signed(type) ? (uint64_t)((int64_t)x / (int64_t)n) : x / n;
    put_integer(type, (char *)out + at, x);
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

/* Floats of 16 bits: of so many digits, the last of them worth at least 2^least. */

struct half {
    int digits, least, bias;
    double most;
};
static const struct half binary16 = {11, -24, 15, 65504.0}, bfloat16 = {8, -133, 127, 0x1.fep127};

static double get_half(const struct half *h, uint16_t bits)
{
    const int fraction = h->digits - 1, exponent = (bits & 0x7fff) >> fraction;
    const double rest = bits & ((1 << fraction) - 1), sign = bits >> 15 ? -1 : 1;

    if (exponent == 2 * h->bias + 1)
        return rest == 0 ? sign * INFINITY : NAN;
    if (exponent == 0)
        return sign * ldexp(rest, h->least);
    return sign * ldexp(rest + (1 << fraction), exponent - 1 + h->least);
}

static uint16_t put_half(const struct half *h, double x)
{
    const int fraction = h->digits - 1;
    const uint16_t sign = signbit(x) ? 0x8000 : 0, infinite = (uint16_t)((2 * h->bias + 1) << fraction);
    int exponent;

    if (isnan(x))
        return infinite + 1;
    x = fabs(x);
    if (x == 0)
        return sign;
    frexp(x, &exponent);
    int last = exponent - h->digits > h->least ? exponent - h->digits : h->least;
    double units = nearbyint(ldexp(x, -last)); /* to nearest even, as the thread's rounding mode is */
    if (isinf(x) || ldexp(units, last) > h->most)
        return sign | infinite;
    /* Carries go into the exponent as they should. */
    return (uint16_t)(sign | (uint16_t)(units + (double)((last - h->least) * (1 << fraction))));
}

static void reduce_halves(unsigned type, unsigned op, void *out, const void *const in[], unsigned n,
                          size_t at)
{
    const struct half *h = type == AGG_F16 ? &binary16 : &bfloat16;
    float x = 0;

    for (unsigned i = 0; i < n; i++) {
        uint16_t bits;
        memcpy(&bits, (const char *)in[i] + at, sizeof bits);
        float y = (float)get_half(h, bits);
        x = i == 0 ? y : combine_float(op, x, y);
    }
    if (op == AGG_AVG)
        x /= (float)n;
    uint16_t bits = put_half(h, x);
    memcpy((char *)out + at, &bits, sizeof bits);
}

/* Pairs. All their values and indices fit a long double. */

static long double get_part(unsigned type, const void *p)
{
    float f;
    double d;

    switch (type) {
    case AGG_F32:
        memcpy(&f, p, sizeof f);
        return (long double)f;
    case AGG_F64:
        memcpy(&d, p, sizeof d);
        return (long double)d;
    default:
        return (long double)(int64_t)get_integer(type, p);
    }
}

static size_t part_bytes(unsigned type)
{
    return type == AGG_F32 ? 4 : type == AGG_F64 ? 8 : width_of(type);
}

static void reduce_pairs(unsigned type, unsigned op, void *out, const void *const in[], unsigned n, size_t at)
{
    const unsigned index_type = op == AGG_MINPAIR || op == AGG_MAXPAIR ? type : AGG_I32;
    const size_t v = part_bytes(type), k = part_bytes(index_type), all = element_bytes(op << 4 | type);
    const int sign = op == AGG_MINLOC || op == AGG_MINPAIR ? 1 : -1;
    char acc[16], next[16];

    memcpy(acc, (const char *)in[0] + at, all);
    for (unsigned i = 1; i < n; i++) {
        memcpy(next, (const char *)in[i] + at, all);
        long double a = sign * get_part(type, acc), b = sign * get_part(type, next);
        bool lower = get_part(index_type, next + all / 2) < get_part(index_type, acc + all / 2);
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
    const unsigned type = code & 15, op = code >> 4;
    const size_t bytes = element_bytes(code);

    for (size_t at = 0; at < count * bytes; at += bytes) {
        if (op >= AGG_MINLOC)
            reduce_pairs(type, op, out, in, n, at);
        else if (width_of(type) != 0)
            reduce_integers(type, op, out, in, n, at);
        else if (type == AGG_F16 || type == AGG_BF16)
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

/* Numbers in an element: a pair and a complex one have two. */

static unsigned parts_of(unsigned code, unsigned types[2])
{
    const unsigned type = code & 15, op = code >> 4;

    types[0] = type == AGG_C64 ? AGG_F32 : type == AGG_C128 ? AGG_F64 : type;
    types[1] = op == AGG_MINLOC || op == AGG_MAXLOC ? AGG_I32 : types[0];
    return op >= AGG_MINLOC || types[0] != type ? 2 : 1;
}

static size_t number_bytes(unsigned type)
{
    return type == AGG_F16 || type == AGG_BF16 ? 2 : part_bytes(type);
}

/* Factors are powers of two, of complex numbers 1 and -1; others sixty-fourths, of 16 bits whole numbers: so
 * few digits that nothing is rounded. */
static double tame_float(unsigned code, unsigned type, uint64_t random)
{
    static const double factors[] = {1, -1, 2, -2, 0.5, -0.5};
    const bool factor = code >> 4 == AGG_PROD, complex = (code & 15) >= AGG_C64;

    if (factor)
        return factors[random % (complex ? 2 : 6)];
    if (type == AGG_F16 || type == AGG_BF16)
        return (double)((int)(random % 3) - 1);
    return (double)((int)(random % 129) - 64) / 64;
}

static void put_float(unsigned type, char *p, double x)
{
    const float f = (float)x;
    const uint16_t h = put_half(type == AGG_F16 ? &binary16 : &bfloat16, x);

    if (type == AGG_F32)
        memcpy(p, &f, sizeof f);
    else if (type == AGG_F64)
        memcpy(p, &x, sizeof x);
    else
        memcpy(p, &h, sizeof h);
}

static void put_tame(unsigned code, unsigned type, uint64_t random, char *p)
{
    if (width_of(type) != 0)
        put_integer(type, p, random);
    else
        put_float(type, p, tame_float(code, type, random));
}

/* Zeros, extremes, infinities, NaN, the least. */
static void put_special(unsigned type, uint64_t random, char *p)
{
    static const double floats[] = {0.0, -0.0, 1.0, -1.0, INFINITY, -INFINITY, NAN};
    static const uint64_t integers[] = {0, 1, UINT64_MAX, 2};
    const size_t bytes = number_bytes(type);
    const uint64_t sign = UINT64_C(1) << (8 * bytes - 1);
    const uint64_t bits = integers[random % 4] ^ (random >> 32 & 1 ? sign : 0);

    if (width_of(type) != 0 || random >> 33 & 1)
        memcpy(p, &bits, bytes);
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
        memcpy(p, &random, number_bytes(type));
}

void reference_fill(unsigned code, uint64_t *state, bool tame, void *elements, size_t count)
{
    const size_t bytes = element_bytes(code);
    unsigned types[2], parts = parts_of(code, types);
    char *p = elements;

    for (size_t i = 0; i < count; i++, p += bytes) {
        uint64_t padding[2] = {splitmix_next(state), splitmix_next(state)};
        memcpy(p, padding, bytes);
        put_number(code, types[0], state, tame, p);
        if (parts == 2)
            put_number(code, types[1], state, tame, p + bytes / 2);
    }
}

static bool is_nan(unsigned type, const char *p)
{
    uint16_t bits;

    if (type == AGG_F32 || type == AGG_F64)
        return isnan(get_part(type, p));
    if (type != AGG_F16 && type != AGG_BF16)
        return false;
    memcpy(&bits, p, sizeof bits);
    return isnan(get_half(type == AGG_F16 ? &binary16 : &bfloat16, bits));
}

static bool is_zero(unsigned type, const char *p)
{
    uint16_t bits;

    if (type == AGG_F32 || type == AGG_F64)
        return get_part(type, p) == 0;
    if (type != AGG_F16 && type != AGG_BF16)
        return false;
    memcpy(&bits, p, sizeof bits);
    return (bits & 0x7fff) == 0;
}

static bool compare(unsigned code, const void *a, const void *b, size_t count, bool zeros_are_one)
{
    const size_t bytes = element_bytes(code);
    const char *p = a, *q = b;
    unsigned types[2];
    const unsigned parts = parts_of(code, types);

    for (size_t at = 0; at < count * bytes; at += bytes / parts) {
        const unsigned type = types[at % bytes != 0];

        if (memcmp(p + at, q + at, bytes / parts) != 0 && !(is_nan(type, p + at) && is_nan(type, q + at)) &&
            !(zeros_are_one && is_zero(type, p + at) && is_zero(type, q + at)))
            return false;
    }
    return true;
}

bool reference_same(unsigned code, const void *a, const void *b, size_t count)
{
    return compare(code, a, b, count, false);
}

bool reference_equal(unsigned code, const void *a, const void *b, size_t count)
{
    return compare(code, a, b, count, true);
}
