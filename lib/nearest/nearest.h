/* "Did you mean ...?": the known word that is nearest to a mistyped one. Pure. */
#pragma once

/* Start with nearest_to(word) and offer every candidate. best stays NULL unless one is near enough to be what
 * was meant. */
struct nearest {
    const char *word;
    const char *best;
    unsigned distance; /* of best; at the start, the greatest that counts as near */
};

struct nearest nearest_to(const char *word);
void nearest_offer(struct nearest *n, const char *candidate);
