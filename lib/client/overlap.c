#include "overlap.h"

#include <stdlib.h>

static struct overlap_range range_of(const void *tensor, size_t bytes, size_t segment)
{
    return (struct overlap_range){(uintptr_t)tensor, (uintptr_t)tensor + bytes, segment};
}

static int by_place(const void *a, const void *b)
{
    const struct overlap_range *one = a, *other = b;
    return one->from < other->from ? -1 : one->from > other->from;
}

static void sort(struct overlap_range ranges[], size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (ranges[i].from < ranges[i - 1].from) {
            qsort(ranges, n, sizeof *ranges, by_place);
            return;
        }
}

/* The ranges so far, in the order of their beginnings: the one that reaches furthest. */
static bool reaches(const struct overlap_range *furthest, const struct overlap_range *next,
                    struct overlap_pair *pair)
{
    if (!furthest || furthest->to <= next->from)
        return false;
    const bool in_order = furthest->segment <= next->segment;
    pair->one = in_order ? furthest->segment : next->segment;
    pair->other = in_order ? next->segment : furthest->segment;
    return true;
}

static void extend(const struct overlap_range **furthest, const struct overlap_range *next)
{
    if (!*furthest || (*furthest)->to < next->to)
        *furthest = next;
}

/* Passes over both lists in the order of their beginnings. */
static bool sweep(const struct overlap_range recvs[], size_t n, const struct overlap_range sends[], size_t m,
                  struct overlap_pair *pair)
{
    const struct overlap_range *received = NULL, *sent = NULL;
    size_t i = 0, j = 0;
    while (i < n || j < m) {
        const bool receives = j == m || (i < n && recvs[i].from <= sends[j].from);
        const struct overlap_range *next = receives ? &recvs[i++] : &sends[j++];
        if (reaches(received, next, pair) || (receives && reaches(sent, next, pair)))
            return true;
        extend(receives ? &received : &sent, next);
    }
    return false;
}

bool overlap_find(const struct swagg_segment segments[], size_t n, size_t element,
                  struct overlap_range scratch[], struct overlap_pair *pair)
{
    struct overlap_range *recvs = scratch, *sends = scratch + n;
    size_t received = 0, sent = 0;
    for (size_t i = 0; i < n; i++) {
        const struct swagg_segment *s = &segments[i];
        if (s->count > 0)
            recvs[received++] = range_of(s->recv, s->count * element, i);
        if (s->count > 0 && s->send != s->recv)
            sends[sent++] = range_of(s->send, s->count * element, i);
    }
    sort(recvs, received);
    sort(sends, sent);
    return sweep(recvs, received, sends, sent, pair);
}
