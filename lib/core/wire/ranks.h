/* Sets of ranks, and how they read: "rank 3", "ranks 0, 2 and 5-7". */
#ifndef SWAGG_CORE_WIRE_RANKS_H
#define SWAGG_CORE_WIRE_RANKS_H

#include <stdbool.h>
#include <stdint.h>

enum {
    CTL_RANKS_MAX = 1024, /* in a job */
    CTL_RANK_WORDS = CTL_RANKS_MAX / 64,
    CTL_RANKS_TEXT_MAX = 96, /* what ctl_ranks_text writes at most, terminating zero included */
};

struct ctl_ranks {
    uint64_t word[CTL_RANK_WORDS]; /* rank r: word r / 64, bit r % 64 */
};

static inline void ctl_ranks_add(struct ctl_ranks *set, unsigned rank)
{
    set->word[rank / 64] |= UINT64_C(1) << (rank % 64);
}

static inline bool ctl_ranks_has(const struct ctl_ranks *set, unsigned rank)
{
    return set->word[rank / 64] >> (rank % 64) & 1;
}

unsigned ctl_ranks_count(const struct ctl_ranks *set);

/* Three ranks in a row and more become a range; what does not fit becomes "and N more"; "no rank" if the set
 * is empty. Returns text. */
const char *ctl_ranks_text(const struct ctl_ranks *set, char text[CTL_RANKS_TEXT_MAX]);

#endif
