#include <math.h>
#include <string.h>

#include "reference_parts.h"

static bool is_nan(unsigned type, const char *p)
{
    return part_is_float(type) && isnan(part_get(type, p));
}

static bool is_zero(unsigned type, const char *p)
{
    return part_is_float(type) && part_get(type, p) == 0;
}

static bool compare(unsigned code, const void *a, const void *b, size_t count, bool zeros_are_one)
{
    const size_t bytes = agg_code_bytes(code);
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
