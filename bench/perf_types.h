/* swagg-perf: the types whose sums it times, and their elements. */
#pragma once

#include <stddef.h>

#include "swagg.h"

struct perf_type {
    const char *name;
    enum swagg_type type;
    int most; /* integers up to so many, of either sign, are summed; sums of many ranks' are exact */
    void (*set)(void *tensor, size_t i, int value);
    double (*get)(const void *tensor, size_t i);
};

/* NULL: there is none of that name. */
const struct perf_type *perf_type_named(const char *name);

/* All names, with commas. */
#define PERF_TYPE_NAMES "float, double, half, bfloat16, int32, int64"
