#include "nearest.h"

#include <string.h>

enum {
    WORD_MAX = 40, /* longer words are compared by their beginnings */
    TYPOS_MAX = 3,
};

static unsigned least(unsigned a, unsigned b, unsigned c)
{
    unsigned m = a < b ? a : b;

    return m < c ? m : c;
}

/* Levenshtein's edit distance, one row of the matrix at a time. */
static unsigned edit_distance(const char *a, const char *b)
{
    const size_t n = strnlen(a, WORD_MAX), m = strnlen(b, WORD_MAX);
    unsigned row[WORD_MAX + 1];

    for (unsigned j = 0; j <= m; j++)
        row[j] = j;
    for (unsigned i = 1; i <= n; i++) {
        unsigned diagonal = row[0];

        row[0] = i;
        for (unsigned j = 1; j <= m; j++) {
            unsigned above = row[j];

            row[j] = least(above + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1]));
            diagonal = above;
        }
    }
    return row[m];
}

struct nearest nearest_to(const char *word)
{
    const unsigned half = (unsigned)strnlen(word, WORD_MAX) / 2;

    return (struct nearest){.word = word, .distance = half < TYPOS_MAX ? half : TYPOS_MAX};
}

void nearest_offer(struct nearest *n, const char *candidate)
{
    unsigned distance = edit_distance(n->word, candidate);

    if (distance < n->distance || (distance == n->distance && n->best == NULL)) {
        n->best = candidate;
        n->distance = distance;
    }
}
