#include "share/divide.h"

#include <stdbool.h>

/* Claims that are not met yet have get == 0 and want > 0. */
static uint64_t weight_of_unmet(const struct share_claim claim[], unsigned n)
{
    uint64_t sum = 0;

    for (unsigned i = 0; i < n; i++)
        sum += claim[i].get < claim[i].want ? claim[i].weight : 0;
    return sum;
}

/* Meets every claim that wants no more than its part of what is left. False: there is none. */
static bool meet_the_modest(uint64_t *left, struct share_claim claim[], unsigned n)
{
    const uint64_t whole = *left, weights = weight_of_unmet(claim, n);
    bool met = false;

    for (unsigned i = 0; i < n; i++)
        if (claim[i].get < claim[i].want && claim[i].want * weights <= whole * claim[i].weight) {
            claim[i].get = claim[i].want;
            *left -= claim[i].want;
            met = true;
        }
    return met;
}

void share_divide(uint32_t total, struct share_claim claim[], unsigned n)
{
    uint64_t left = total, weights;

    for (unsigned i = 0; i < n; i++)
        claim[i].get = 0;
    while (meet_the_modest(&left, claim, n))
        ;
    weights = weight_of_unmet(claim, n);
    for (unsigned i = 0; i < n; i++)
        if (claim[i].get < claim[i].want)
            claim[i].get = (uint32_t)(left * claim[i].weight / weights);
}
