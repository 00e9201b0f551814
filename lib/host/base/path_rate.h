/* How many path probes, or other packets of no job, are answered: their senders may be forged, so there is a
 * bound for all together, and one for each address, so that one that sends without end delays no other's
 * join.
 *
 * Pure: no clock (now in ns, monotonic). One thread.
 */
#ifndef SWAGG_BASE_PATH_RATE_H
#define SWAGG_BASE_PATH_RATE_H

#include "share/throttle.h"

struct path_rate {
    struct share_bucket answers;
    struct throttle askers;
};

/* seed: random, for the table of askers. */
void path_rate_init(struct path_rate *r, uint64_t seed);

/* Whether this address (in any byte order) is answered now. */
bool path_rate_admit(struct path_rate *r, uint32_t asker, uint64_t now);

#endif
