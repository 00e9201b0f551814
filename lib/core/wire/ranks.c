#include "wire/ranks.h"

#include <stdio.h>

unsigned ctl_ranks_count(const struct ctl_ranks *set)
{
    return ranks_count(set->word, CTL_RANK_WORDS);
}

/* The first rank at or after `from` that is, or is not, in the set; CTL_RANKS_MAX if there is none. */
static unsigned next(const struct ctl_ranks *set, unsigned from, bool member)
{
    while (from < CTL_RANKS_MAX && ctl_ranks_has(set, from) != member)
        from++;
    return from;
}

/* One past the last rank of the range that begins with `first`. */
static unsigned range_end(const struct ctl_ranks *set, unsigned first)
{
    unsigned end = next(set, first, false);
    return end - first < 3 ? first + 1 : end;
}

const char *ctl_ranks_text(const struct ctl_ranks *set, char text[CTL_RANKS_TEXT_MAX])
{
    enum { ROOM_FOR_ONE = sizeof ", 1000-1023 and 1024 more" };
    unsigned left = ctl_ranks_count(set), first = next(set, 0, true);
    const char *separator = left == 1 ? "rank " : "ranks ";
    size_t used = 0;
    if (left == 0) {
        snprintf(text, CTL_RANKS_TEXT_MAX, "no rank");
        return text;
    }
    while (left > 0 && used + ROOM_FOR_ONE <= CTL_RANKS_TEXT_MAX) {
        unsigned end = range_end(set, first);
        used += (size_t)snprintf(text + used, CTL_RANKS_TEXT_MAX - used, "%s%u", separator, first);
        if (end - first > 1)
            used += (size_t)snprintf(text + used, CTL_RANKS_TEXT_MAX - used, "-%u", end - 1);
        left -= end - first;
        first = next(set, end, true);
        separator = left > 0 && left == range_end(set, first) - first ? " and " : ", ";
    }
    if (left > 0)
        snprintf(text + used, CTL_RANKS_TEXT_MAX - used, " and %u more", left);
    return text;
}
