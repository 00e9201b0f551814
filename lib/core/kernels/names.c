#include <string.h>

#include "kernels/kernels.h"

static const char *const types[AGG_TYPES] = {
    [AGG_I8] = "int8",       [AGG_I16] = "int16",     [AGG_I32] = "int32",      [AGG_I64] = "int64",
    [AGG_U8] = "uint8",      [AGG_U16] = "uint16",    [AGG_U32] = "uint32",     [AGG_U64] = "uint64",
    [AGG_F16] = "float16",   [AGG_F32] = "float32",   [AGG_F64] = "float64",    [AGG_BOOL] = "bool",
    [AGG_BF16] = "bfloat16", [AGG_C64] = "complex64", [AGG_C128] = "complex128"};

static const char *const ops[AGG_OPS] = {
    [AGG_SUM] = "sum",       [AGG_PROD] = "prod",       [AGG_MIN] = "min",        [AGG_MAX] = "max",
    [AGG_LAND] = "land",     [AGG_LOR] = "lor",         [AGG_LXOR] = "lxor",      [AGG_BAND] = "band",
    [AGG_BOR] = "bor",       [AGG_BXOR] = "bxor",       [AGG_AVG] = "avg",        [AGG_MINLOC] = "minloc",
    [AGG_MAXLOC] = "maxloc", [AGG_MINPAIR] = "minpair", [AGG_MAXPAIR] = "maxpair"};

/* Neither has a 0. */
static unsigned find(const char *const names[], unsigned n, const char *name)
{
    unsigned i = n - 1;

    while (i > 0 && strcmp(names[i], name) != 0)
        i--;
    return i;
}

const char *agg_type_name(unsigned type)
{
    return type > 0 && type < AGG_TYPES ? types[type] : "unknown type";
}

const char *agg_op_name(unsigned op)
{
    return op > 0 && op < AGG_OPS ? ops[op] : "unknown operation";
}

unsigned agg_type_named(const char *name)
{
    return find(types, AGG_TYPES, name);
}

unsigned agg_op_named(const char *name)
{
    return find(ops, AGG_OPS, name);
}
