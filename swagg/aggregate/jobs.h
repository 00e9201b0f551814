/* The running jobs, as the data path sees them. Everything that depends on a job's protocol (pool, terms,
 * memory, length of packets) comes from the protocol's table (protocol/protocol.h).
 *
 * The main lcore builds a job, publishes it under its number, and does not change it any more. Polling lcores
 * read it without locks and hold no job between two rounds. A job that was taken out is freed once every
 * lcore has ended a round (RCU). Its pool has its own rules: a slot belongs to one lcore.
 */
#ifndef SWAGG_AGGREGATE_JOBS_H
#define SWAGG_AGGREGATE_JOBS_H

#include <stdint.h>

#include <rte_byteorder.h>
#include <rte_rcu_qsbr.h>

#include "base/counters.h"
#include "base/frame.h"
#include "protocol/protocol.h"

enum {
    JOBS_MAX = AGG_JOBS,
    JOBS_SHARE_FROM_BYTES =
        512, /* shorter sums are copied, which is cheaper than keeping or sharing their buffers */
};

struct job_member {
    struct frame_header header; /* of what the switch sends it */
    struct net_mac mac;
    uint8_t port; /* where it joined; the bridge may know better by now */
};

struct job {
    struct agg_job common; /* as its protocol sees it; the first, for jobs_of */
    bool in_place;         /* the pool may keep frames; their mbufs are the buffers of protocol/protocol.h */
    bool checked;          /* its packets have a checksum of their own, so they need none of UDP's */
    struct job_member *member; /* by rank; NULL: nobody has joined it */

    /* The main lcore's. */
    size_t bytes;
    uint32_t founder;    /* the IP address that it was founded from; 0: nobody's */
    uint32_t frames;     /* that it may keep at once */
    uint64_t retired_at; /* RCU token */
    struct job *next_retired;
};

struct jobs {
    struct agg_jobs running[COUNTED_PROTOCOLS]; /* by enum agg_protocol_id; every one in a struct job */

    /* The main lcore's. */
    uint64_t closes;                                 /* so far */
    uint64_t closed_at[COUNTED_PROTOCOLS][JOBS_MAX]; /* closes when the number was freed; 0: never used */
    struct rte_rcu_qsbr *rcu;
    const struct agg_kernels *kernels;
    struct job *retired;
    /* Of all pools, those still to be freed included: memory, and frames that they may keep. */
    size_t bytes, bytes_max;
    uint32_t frames, frames_max;
};

/* The job around what its protocol sees of it. */
static inline const struct job *jobs_of(const struct agg_job *job)
{
    return (const struct job *)job;
}

/* NULL: there is none. protocol: enum agg_protocol_id. */
static inline const struct job *jobs_find(const struct jobs *jobs, unsigned protocol, unsigned number)
{
    return jobs_of(agg_jobs_find(&jobs->running[protocol], number));
}

/* Where the switch's answers come from; the UDP port is that of the packet that is answered. */
struct jobs_identity {
    struct net_mac mac;
    rte_be32_t ip;
};

/* A member, which has joined, or is in the configuration. */
struct jobs_member {
    struct net_mac mac;
    uint8_t port; /* of the switch, where it was heard; the bridge may know better by now */
    rte_be16_t udp_port;
    rte_be32_t ip;
};

/* What a job is to be like, whether its members join or are in the configuration. */
struct jobs_plan {
    const struct agg_protocol *protocol;
    struct agg_terms terms; /* granted */
    /* The terms must not be lowered, since the job resumes after a restart, or is in the configuration. It
     * may use all memory that is left. */
    bool as_it_is;
    uint16_t size;
    uint32_t founder;                           /* as in struct job */
    uint64_t unusable[JOBS_MAX / 64];           /* numbers that it must not have: bit n % 64 of word n / 64 */
    struct jobs_member member[AGG_MAX_WORKERS]; /* by rank */
};

/* Makes and publishes a running job with a pool for plan->terms, and chooses its number: the least that was
 * never used, else the one that was freed longest ago. Unless as_it_is, lowers plan->terms to what there is
 * memory for; a quarter of the memory is left to jobs of other founders. The job sums in place if enough
 * frames are left for all that it might keep. -ENOSPC: no memory, -EMFILE: no number, -EINVAL: its protocol
 * has no pools for these terms; text says why. */
int jobs_open(struct jobs *jobs, struct jobs_plan *plan, const struct jobs_identity *us, uint8_t *number,
              char text[AGG_TEXT_MAX]);

/* Takes the job out; its memory is freed by a later jobs_reclaim. protocol: enum agg_protocol_id. */
void jobs_close(struct jobs *jobs, unsigned protocol, uint8_t number);

/* Frees what no lcore can hold any more. */
void jobs_reclaim(struct jobs *jobs);

/* Frees everything. No lcore runs. */
void jobs_free(struct jobs *jobs);

#endif
