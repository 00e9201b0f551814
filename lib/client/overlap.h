/* Whether the tensors of a call lie apart where they must. Pure. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "swagg.h"

struct overlap_range {
    uintptr_t from, to;
    size_t segment;
};

struct overlap_pair {
    size_t one, other; /* segments, in order; the same where its send and recv overlap but are not equal */
};

/* Finds a recv that overlaps another recv or any send but its own, equal one. True: *pair says where. In
 * order n, or n log n if the tensors do not ascend in memory. scratch has room for 2 * n. */
bool overlap_find(const struct swagg_segment segments[], size_t n, size_t element,
                  struct overlap_range scratch[], struct overlap_pair *pair);
