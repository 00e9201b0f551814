/* Which ranks are in the results of a call, in a job with a quorum, where chunks may be closed without some
 * (pool_quorum.c). Pure and reentrant. */
#pragma once

#include <assert.h>

#include "protocol/jobs.h"

/* Of one call. A rank that is not given the sums is told nothing of it. */
struct xfer_turnout {
    uint16_t least, most; /* ranks in an element, of those whose sum is here */
    uint64_t elements;    /* whose sum is here */
    uint64_t partial;     /* of these, those that lack some rank */
    uint64_t left_out;    /* of these, those that lack this one */
    uint64_t missed;      /* whose sum this rank could not get any more: they are 0 */
    /* Ranks in all and in some of the elements whose sum is here: bit r % 64 of word r / 64. */
    uint64_t in_all[AGG_MAX_RANKS / 64], in_some[AGG_MAX_RANKS / 64];
};

/* One chunk of a call, for those who need to know more closely: how many ranks are in its result, 0 if that
 * could not be had any more, and whether this one is. Of a result that could not be had the switch says so;
 * not if it has restarted since this rank contributed. */
struct xfer_roll {
    uint16_t ranks : 15, mine : 1;
};

static_assert(AGG_MAX_RANKS < 1 << 15, "a roll has room");

void xfer_turnout_begin(struct xfer_turnout *t);

/* A chunk of so many elements. names: a map of `ranks` ranks as it travels; NULL: the result could not be
 * had. */
struct xfer_roll xfer_turnout_add(struct xfer_turnout *t, const uint8_t *names, uint16_t ranks, uint16_t rank,
                                  uint64_t elements);
