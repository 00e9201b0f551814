#include "elements.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "random/splitmix.h"
#include "wire/bytes.h"

static const struct element_type types[AGG_TYPES] = {
    [AGG_I32] = {"int32", 4, false},
    [AGG_I64] = {"int64", 8, false},
    [AGG_F32] = {"float32", 4, true},
    [AGG_F64] = {"float64", 8, true},
};

const char *element_type_name(unsigned type)
{
    static const char *const names[AGG_TYPES] = {
        [AGG_I32] = "int32",     [AGG_I64] = "int64",     [AGG_F32] = "float32",    [AGG_F64] = "float64",
        [AGG_I8] = "int8",       [AGG_I16] = "int16",     [AGG_U8] = "uint8",       [AGG_U16] = "uint16",
        [AGG_U32] = "uint32",    [AGG_U64] = "uint64",    [AGG_BOOL] = "bool",      [AGG_F16] = "float16",
        [AGG_BF16] = "bfloat16", [AGG_C64] = "complex64", [AGG_C128] = "complex128"};

    return type < AGG_TYPES && names[type] != NULL ? names[type] : "?";
}

const char *element_op_name(unsigned op)
{
    static const char *const names[AGG_OPS] = {
        [AGG_SUM] = "sum",       [AGG_PROD] = "prod",       [AGG_MIN] = "min",        [AGG_MAX] = "max",
        [AGG_LAND] = "land",     [AGG_LOR] = "lor",         [AGG_LXOR] = "lxor",      [AGG_BAND] = "band",
        [AGG_BOR] = "bor",       [AGG_BXOR] = "bxor",       [AGG_AVG] = "avg",        [AGG_MINLOC] = "minloc",
        [AGG_MAXLOC] = "maxloc", [AGG_MINPAIR] = "minpair", [AGG_MAXPAIR] = "maxpair"};

    return op < AGG_OPS && names[op] != NULL ? names[op] : "?";
}

const struct element_type *element_type(unsigned type)
{
    return type < AGG_TYPES && types[type].name != NULL ? &types[type] : NULL;
}

unsigned element_type_named(const char *name)
{
    for (unsigned t = 0; t < AGG_TYPES; t++) {
        if (types[t].name != NULL && strcmp(types[t].name, name) == 0)
            return t;
    }
    return 0;
}

/* int32 travels big endian, the others little endian, which is this machine's order too. */
union element element_read(unsigned type, const uint8_t *p)
{
    union element e = {0};
    float f;

    switch (type) {
    case AGG_I32:
        e.i = (int32_t)get_be32(p);
        break;
    case AGG_F32:
        memcpy(&f, p, sizeof(f));
        e.f = (double)f;
        break;
    default:
        memcpy(&e, p, sizeof(e));
        break;
    }
    return e;
}

void element_write(unsigned type, uint8_t *p, union element e)
{
    float f = (float)e.f;

    switch (type) {
    case AGG_I32:
        put_be32(p, (uint32_t)e.i);
        break;
    case AGG_F32:
        memcpy(p, &f, sizeof(f));
        break;
    default:
        memcpy(p, &e, sizeof(e));
        break;
    }
}

union element element_invent(unsigned type, uint64_t seed, unsigned worker, uint32_t tag, unsigned index)
{
    const uint64_t packet = splitmix_mix(splitmix_hash(seed) ^ ((uint64_t)worker << 32 | tag));
    const uint64_t random = splitmix_mix(packet + index);
    const int64_t small = (int64_t)(random >> 47) - (1 << 16); /* 17 bits */

    return types[type].is_float ? (union element){.f = (double)small / 64} : (union element){.i = small};
}

static bool is_integer_sum(unsigned type, int64_t sum, const union element in[], unsigned n)
{
    uint64_t total = 0;

    for (unsigned i = 0; i < n; i++)
        total += (uint64_t)in[i].i;
    return type == AGG_I32 ? (int32_t)sum == (int32_t)(uint32_t)total : (uint64_t)sum == total;
}

/* n - 1 additions, each off by at most half a unit in the last place of a partial sum. */
static bool is_float_sum(unsigned type, double sum, const union element in[], unsigned n)
{
    const long double epsilon = type == AGG_F32 ? FLT_EPSILON : DBL_EPSILON;
    long double total = 0, magnitude = 0;

    for (unsigned i = 0; i < n; i++) {
        total += in[i].f;
        magnitude += fabsl((long double)in[i].f);
    }
    if (!isfinite(magnitude))
        return !isfinite(sum);
    return fabsl(sum - total) <= (n - 1) * epsilon * magnitude;
}

bool element_is_sum(unsigned type, union element sum, const union element in[], unsigned n)
{
    return types[type].is_float ? is_float_sum(type, sum.f, in, n) : is_integer_sum(type, sum.i, in, n);
}

int element_print(char *text, size_t bytes, unsigned type, union element e)
{
    if (!types[type].is_float)
        return snprintf(text, bytes, "%" PRId64, e.i);
    return snprintf(text, bytes, "%.*g", type == AGG_F32 ? FLT_DECIMAL_DIG : DBL_DECIMAL_DIG, e.f);
}
