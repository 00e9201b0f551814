#include <float.h>
#include <stdio.h>

#include "reference_parts.h"

enum { INTEGER_DIGITS = 20, PART_TEXT_MAX = 40 };

/* Digits that tell all numbers of the type apart. */
static int digits_of(unsigned type)
{
    switch (type) {
    case AGG_F16:
        return 5;
    case AGG_BF16:
        return 4;
    case AGG_F32:
        return FLT_DECIMAL_DIG;
    case AGG_F64:
        return DBL_DECIMAL_DIG;
    default:
        return INTEGER_DIGITS;
    }
}

int reference_print(unsigned code, const void *element, char *text, size_t bytes)
{
    unsigned types[2], parts = parts_of(code, types);
    char part[2][PART_TEXT_MAX];

    for (unsigned i = 0; i < parts; i++)
        snprintf(part[i], sizeof part[i], "%.*Lg", digits_of(types[i]),
                 part_get(types[i], (const char *)element + i * agg_code_bytes(code) / 2));
    if (parts == 1)
        return snprintf(text, bytes, "%s", part[0]);
    return snprintf(text, bytes, agg_code_op(code) >= AGG_MINLOC ? "%s@%s" : "(%s,%s)", part[0], part[1]);
}
