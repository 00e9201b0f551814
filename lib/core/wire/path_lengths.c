#include "wire/path_lengths.h"

#include <string.h>

enum {
    ROUNDS_ENOUGH = 8,  /* in which a shorter packet came back and a longer one did not */
    ROUNDS_LATE = 1024, /* of which answers may still be on their way */
};

const uint16_t path_usual_mtus[PATH_USUAL_MTUS] = {9000, 8950, 4352, 2048, 1500, 1492, 1476,
                                                   1450, 1420, 1400, 1280, 1006, 576};

void path_lengths_add(struct path_lengths *l, unsigned mtu, size_t bytes)
{
    unsigned at = 0;

    while (at < l->sizes && l->size[at].bytes > bytes)
        at++;
    if (at < l->sizes && l->size[at].bytes == bytes)
        return;
    memmove(&l->size[at + 1], &l->size[at], (l->sizes - at) * sizeof l->size[0]);
    l->size[at].mtu = mtu;
    l->size[at].bytes = bytes;
    l->sizes++;
    l->best = l->sizes;
}

unsigned path_lengths_last(const struct path_lengths *l)
{
    return l->best < l->sizes ? l->best : l->sizes - 1;
}

/* Once, and not if a newer one has been. */
static void count_round(struct path_lengths *l, uint16_t round)
{
    if (l->rounds_back > 0 && (uint16_t)(l->newest_back - round) < ROUNDS_LATE)
        return;
    l->newest_back = round;
    l->rounds_back++;
}

enum path_news path_lengths_answered(struct path_lengths *l, size_t bytes, uint16_t round)
{
    unsigned size = 0;
    enum path_news news;

    while (size < l->sizes && l->size[size].bytes != bytes)
        size++;
    if (size == l->sizes)
        return PATH_OLD_NEWS;
    news = size < l->best ? PATH_BETTER : size == l->best ? PATH_BEST : PATH_OLD_NEWS;
    if (news == PATH_BETTER)
        l->best = size;
    count_round(l, round);
    return news;
}

bool path_lengths_are_settled(const struct path_lengths *l)
{
    return l->best <= l->first || (l->best < l->sizes && l->rounds_back >= ROUNDS_ENOUGH);
}
