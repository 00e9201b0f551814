/* Sets of ranks, and how they read: "rank 3", "ranks 0, 2 and 5-7". */
#pragma once

#include "protocol/ranks.h"

enum {
    CTL_RANKS_MAX = 1024, /* in a job */
    CTL_RANK_WORDS = CTL_RANKS_MAX / 64,
    CTL_RANKS_TEXT_MAX = 96, /* what ctl_ranks_text writes at most, terminating zero included */
};

struct ctl_ranks {
    uint64_t word[CTL_RANK_WORDS]; /* as protocol/ranks.h has them */
};

static inline void ctl_ranks_add(struct ctl_ranks *set, unsigned rank)
{
    ranks_add(set->word, rank);
}

static inline bool ctl_ranks_has(const struct ctl_ranks *set, unsigned rank)
{
    return ranks_has(set->word, rank);
}

unsigned ctl_ranks_count(const struct ctl_ranks *set);

/* Three ranks in a row and more become a range; what does not fit becomes "and N more"; "no rank" if the set
 * is empty. Returns text. */
const char *ctl_ranks_text(const struct ctl_ranks *set, char text[CTL_RANKS_TEXT_MAX]);
