/* How a rank of a running job keeps up: what it has contributed, and by how much its contributions came later
 * than the first rank's to the same chunk. Whoever is waited for has the longest delays. All numbers count
 * from the job's beginning, or from its resumption after a restart of the switch. Pure. */
#pragma once

#include <stdint.h>

/* A histogram by powers of two. Bucket 0: less than 1,024 ns; bucket i: 2^(9 + i) ns to less than twice that;
 * the last one: 4.3 s and more. */
enum { AGG_DELAY_BUCKETS = 24, AGG_DELAY_LEAST_BITS = 9 };

static inline unsigned agg_delay_bucket(uint64_t ns)
{
    const unsigned i =
        63u - (unsigned)__builtin_clzll(ns | 1u << AGG_DELAY_LEAST_BITS) - AGG_DELAY_LEAST_BITS;

    return i < AGG_DELAY_BUCKETS ? i : AGG_DELAY_BUCKETS - 1;
}

/* The shortest delay of a bucket, ns. */
static inline uint64_t agg_delay_bucket_from(unsigned bucket)
{
    return bucket == 0 ? 0 : UINT64_C(1) << (AGG_DELAY_LEAST_BITS + bucket);
}

struct agg_rank_view {
    uint16_t sender; /* the lowest rank whose packets these are: a switch below sends one for several */
    uint64_t contributions; /* that counted; the sum of all buckets */
    uint64_t bytes;         /* of their bodies, headers and checksums not included */
    uint64_t repeated;      /* contributions that had come before: their result, or they, seemed lost */
    uint64_t probes;        /* questions for a result */
    uint64_t lost_up;       /* contributions that it says it has sent, and that have not come */
    uint64_t lost_down;    /* results that it asked for although they had been sent to it, and not just now */
    uint64_t missed;       /* chunks that were closed without this rank's, in jobs with a quorum */
    uint64_t completed;    /* chunks that were complete with this rank's contribution: it was the last */
    uint64_t delay_sum_ns; /* of all contributions; the first rank's delay is 0 */
    uint64_t delay_last_ns; /* of the last one */
    uint64_t delay_worst_ns;
    uint64_t contributed_at; /* when the last one came, by the clock of agg_protocol.apply; 0: none has */
    uint64_t delays[AGG_DELAY_BUCKETS]; /* how many contributions had such a delay */
};
