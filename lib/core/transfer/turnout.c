#include "transfer/turnout.h"

#include <string.h>

#include "protocol/ranks.h"

void xfer_turnout_begin(struct xfer_turnout *t)
{
    *t = (struct xfer_turnout){.least = UINT16_MAX};
    memset(t->in_all, 0xff, sizeof(t->in_all));
}

/* Returns how many ranks a map names. */
static unsigned count(const uint8_t *names, uint16_t ranks)
{
    unsigned n = 0;

    for (size_t i = 0; i < ranks_map_bytes(ranks); i++)
        n += (unsigned)__builtin_popcount(names[i]);
    return n;
}

static void note_names(struct xfer_turnout *t, const uint8_t *names, uint16_t ranks)
{
    for (unsigned i = 0; i < (ranks + 63u) / 64; i++) {
        uint64_t word = 0;

        for (unsigned j = 0; j < 8 && 8 * i + j < ranks_map_bytes(ranks); j++)
            word |= (uint64_t)names[8 * i + j] << 8 * j;
        t->in_all[i] &= word;
        t->in_some[i] |= word;
    }
}

struct xfer_roll xfer_turnout_add(struct xfer_turnout *t, const uint8_t *names, uint16_t ranks, uint16_t rank,
                                  uint64_t elements)
{
    if (names == NULL) {
        t->missed += elements;
        return (struct xfer_roll){0};
    }
    const unsigned n = count(names, ranks);
    const bool mine = ranks_map_has(names, rank);

    t->elements += elements;
    t->partial += n < ranks ? elements : 0;
    t->left_out += mine ? 0 : elements;
    t->least = n < t->least ? (uint16_t)n : t->least;
    t->most = n > t->most ? (uint16_t)n : t->most;
    note_names(t, names, ranks);
    return (struct xfer_roll){.ranks = (uint16_t)n & 0x7fff, .mine = mine};
}
