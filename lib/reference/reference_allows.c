#include <float.h>
#include <math.h>
#include <string.h>

#include "reference_parts.h"

/* What the type's rounding can do, at most: relative to a result, and the least difference of two results. */
struct precision {
    long double step;  /* of each operation; those on 16 bits are done in float */
    long double last;  /* of the last one, to 16 bits; 0: there is none */
    long double least; /* denormal number */
    long double most;
};

static struct precision precision_of(unsigned type)
{
    if (type == AGG_F64)
        return (struct precision){DBL_EPSILON, 0, DBL_TRUE_MIN, DBL_MAX};
    if (type == AGG_F32)
        return (struct precision){FLT_EPSILON, 0, FLT_TRUE_MIN, FLT_MAX};
    const struct half *h = half_of(type);
    return (struct precision){FLT_EPSILON, ldexpl(1, 1 - h->digits), ldexpl(1, h->least), h->most};
}

/* What comes out without rounding, and how far from it a result may lie. */
struct exact {
    long double value, off;
    bool finite;    /* the contributions are */
    bool overflows; /* in some order, an intermediate result may */
};

static bool is_within(const struct exact *x, long double got)
{
    return x->finite && isfinite(got) ? fabsl(got - x->value) <= x->off
                                      : !isfinite(got) && (!x->finite || x->overflows);
}

/* n roundings, each of at most half a step of a partial sum, and the last one. */
static bool is_sum(unsigned code, unsigned type, long double got, const void *const in[], unsigned n,
                   size_t at)
{
    const struct precision p = precision_of(type);
    const unsigned parts = agg_code_op(code) == AGG_AVG ? n : 1;
    long double value = 0, magnitude = 0;

    for (unsigned i = 0; i < n; i++) {
        const long double x = part_get(type, (const char *)in[i] + at);

        value += x;
        magnitude += fabsl(x);
    }
    const struct exact exact = {
        .value = value / parts,
        .off = (n * p.step * magnitude + p.last * fabsl(value)) / parts + p.least,
        .finite = isfinite(magnitude),
        .overflows = magnitude >= p.most * (1 - p.last),
    };
    return is_within(&exact, got);
}

/* Relative to the product, and what is lost where an intermediate one is hardly more than zero. */
static bool is_product(unsigned type, long double got, const void *const in[], unsigned n)
{
    const struct precision p = precision_of(type);
    long double value = 1, largest = 1;

    for (unsigned i = 0; i < n; i++) {
        const long double x = part_get(type, in[i]);

        value *= x;
        largest *= fmaxl(1, fabsl(x));
    }
    const struct exact exact = {
        .value = value,
        .off = (n * p.step + p.last) * fabsl(value) + n * p.least * largest,
        .finite = isfinite(largest) && isfinite(value),
        .overflows = largest >= p.most * (1 - p.last),
    };
    return is_within(&exact, got);
}

/* The same of both parts, relative to the product of the moduli. */
static bool is_complex_product(unsigned type, const void *result, const void *const in[], unsigned n)
{
    const struct precision p = precision_of(type);
    const size_t half = part_bytes(type);
    long double re = 1, im = 0, modulus = 1, largest = 1;

    for (unsigned i = 0; i < n; i++) {
        const long double a = part_get(type, in[i]), b = part_get(type, (const char *)in[i] + half);
        const long double real = re * a - im * b;

        im = re * b + im * a;
        re = real;
        modulus *= hypotl(a, b);
        largest *= fmaxl(1, hypotl(a, b));
    }
    struct exact exact = {
        .value = re,
        .off = 4 * n * (p.step * modulus + p.least * largest),
        .finite = isfinite(largest),
        .overflows = 2 * largest >= p.most,
    };
    bool right = is_within(&exact, part_get(type, result));
    exact.value = im;
    return right && is_within(&exact, part_get(type, (const char *)result + half));
}

/* The contributions whose part at `at` is not NaN; returns how many. */
static unsigned without_nan(unsigned type, size_t at, const void *const in[], unsigned n,
                            const void *numbers[])
{
    unsigned found = 0;

    for (unsigned i = 0; i < n; i++)
        if (!isnan(part_get(type, (const char *)in[i] + at)))
            numbers[found++] = in[i];
    return found;
}

/* Whether this part of the result is that of a contribution. */
static bool is_one_of(const void *result, const void *const in[], unsigned n, size_t at, size_t bytes)
{
    for (unsigned i = 0; i < n; i++)
        if (memcmp((const char *)result + at, (const char *)in[i] + at, bytes) == 0)
            return true;
    return false;
}

/* Where there is NaN among the contributions, order decides: an extreme is NaN or that of the numbers. */
static bool is_extreme(unsigned code, unsigned type, const void *result, const void *const in[], unsigned n)
{
    const void *numbers[REFERENCE_MAX];
    const unsigned m = without_nan(type, 0, in, n, numbers);
    char expected[REFERENCE_ELEMENT_MAX];

    if (m == n)
        return false;
    if (m > 0)
        reference_reduce(code, expected, numbers, m, 1);
    return isnan(part_get(type, result)) || (m > 0 && reference_equal(code, result, expected, 1));
}

/* ... and where one is may be anywhere. */
static bool is_located(unsigned code, const unsigned types[2], const void *result, const void *const in[],
                       unsigned n)
{
    const void *numbers[REFERENCE_MAX];
    const size_t half = agg_code_bytes(code) / 2;

    if (without_nan(types[0], 0, in, n, numbers) == n && without_nan(types[1], half, in, n, numbers) == n)
        return false;
    return is_one_of(result, in, n, 0, part_bytes(types[0])) &&
           is_one_of(result, in, n, half, part_bytes(types[1]));
}

bool reference_allows(unsigned code, const void *result, const void *const in[], unsigned n)
{
    const unsigned op = agg_code_op(code);
    char expected[REFERENCE_ELEMENT_MAX];
    unsigned types[2], parts = parts_of(code, types);

    if (n == 1 && memcmp(result, in[0], agg_code_bytes(code)) == 0)
        return true;
    reference_reduce(code, expected, in, n, 1);
    if (reference_equal(code, result, expected, 1))
        return true;
    if (n == 1 || !part_is_float(types[0])) /* nothing is rounded, or chosen among */
        return false;
    if (op == AGG_PROD)
        return parts == 2 ? is_complex_product(types[0], result, in, n)
                          : is_product(types[0], part_get(types[0], result), in, n);
    if (op >= AGG_MINLOC)
        return is_located(code, types, result, in, n);
    if (op == AGG_MIN || op == AGG_MAX)
        return is_extreme(code, types[0], result, in, n);
    for (unsigned i = 0; i < parts; i++) {
        const size_t at = i * part_bytes(types[0]);

        if (!is_sum(code, types[0], part_get(types[0], (const char *)result + at), in, n, at))
            return false;
    }
    return true;
}
