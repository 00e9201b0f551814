/* The running jobs, as the data path sees them.
 *
 * A job is built by the main lcore, published whole under its number, and not changed any more: polling
 * lcores read it without locks and let go of it by the end of their round. A job that was taken out is freed
 * once every lcore has passed such a point (RCU). Its pool has its own rules (switchml/pool.h): a slot
 * belongs to one lcore.
 */
#ifndef SWAGG_AGGREGATE_JOBS_H
#define SWAGG_AGGREGATE_JOBS_H

#include <stdint.h>

#include <rte_byteorder.h>
#include <rte_rcu_qsbr.h>

#include "base/frame.h"
#include "switchml/pool.h"
#include "switchml/terms.h"

enum {
    JOBS_MAX = 256,
    JOBS_SHARE_FROM_BYTES = 512, /* shorter sums are cheaper copied than kept, or referred to and counted */
};

struct job_member {
    struct frame_header header; /* of what the switch sends it */
    struct net_mac mac;
    uint8_t port; /* where it joined; the bridge may know better by now */
};

/* Where a packet's sender is looked up: open addressing, at most half full. */
struct job_seat {
    uint64_t sender;    /* see job_sender; 0: empty */
    struct net_mac mac; /* that the member's JOIN came from: its own, or its router's */
    uint16_t rank;
};

static_assert(sizeof(struct job_seat) == 16, "four to a cache line");

struct job {
    struct sml_pool *pool;
    bool in_place; /* the pool may keep frames; their mbufs are the buffers of switchml/pool.h */
    uint8_t number;
    uint16_t size;
    enum sml_checksum checksum;
    uint16_t seats; /* a power of two */
    struct job_seat *seat;
    struct job_member *member; /* by rank */

    /* The main lcore's. */
    size_t bytes;
    uint32_t founder;    /* the IP address that it was founded from; 0: nobody's */
    uint32_t frames;     /* that it may keep at once */
    uint64_t retired_at; /* RCU token */
    struct job *next_retired;
};

struct jobs {
    struct job *running[JOBS_MAX]; /* atomic pointers, by number */

    /* The main lcore's. */
    uint64_t closed_at[JOBS_MAX]; /* by number: the how manieth close freed it; 0: never used */
    uint64_t closes;
    struct rte_rcu_qsbr *rcu;
    const struct agg_kernels *kernels;
    struct job *retired;
    /* Of all pools, those still to be freed included: memory, and frames that they may keep. */
    size_t bytes, bytes_max;
    uint32_t frames, frames_max;
};

/* Never 0, whatever a packet says: that is an empty seat. */
static inline uint64_t job_sender(rte_be32_t ip, rte_be16_t udp_port)
{
    return UINT64_C(1) << 48 | (uint64_t)ip << 16 | udp_port;
}

static inline unsigned job_seat_of(const struct job *job, uint64_t sender)
{
    return (unsigned)(sender * UINT64_C(0x9E3779B97F4A7C15) >> 32) & (job->seats - 1u);
}

static inline const struct job *jobs_find(const struct jobs *jobs, uint8_t number)
{
    return __atomic_load_n(&jobs->running[number], __ATOMIC_ACQUIRE);
}

/* The member that sends from there; NULL: none of this job. */
static inline const struct job_seat *job_seat(const struct job *job, rte_be32_t ip, rte_be16_t udp_port)
{
    uint64_t sender = job_sender(ip, udp_port);

    for (unsigned i = job_seat_of(job, sender);; i = (i + 1) & (job->seats - 1u)) {
        if (job->seat[i].sender == sender)
            return &job->seat[i];
        if (job->seat[i].sender == 0)
            return NULL;
    }
}

/* Where the switch's answers come from; the UDP port is that of the packet that is answered. */
struct jobs_identity {
    struct net_mac mac;
    rte_be32_t ip;
};

/* A member, wherever it is known from: it has joined, or the configuration says so. */
struct jobs_member {
    struct net_mac mac;
    uint8_t port; /* of the switch, where it was heard; the bridge may know better by now */
    rte_be16_t udp_port;
    rte_be32_t ip;
};

/* What a job is made of, whether its members join or not. */
struct jobs_plan {
    uint16_t size;
    uint32_t founder;                           /* as in struct job */
    struct sml_terms terms;                     /* granted */
    uint64_t unusable[4];                       /* numbers that it must not have: bit n % 64 of word n / 64 */
    struct jobs_member member[SML_MAX_WORKERS]; /* by rank */
};

/* Makes and publishes a running job with a pool of at most plan->terms.slots slots (lowered there to what
 * there is memory for, unless the job is resumed; a new one leaves a quarter of all to jobs of other
 * founders), and chooses its number, the least if none was in use yet. The job sums in place if as many
 * frames as it might keep are left. -ENOSPC: no memory for it, -EMFILE: no number; text says what is used
 * up. */
int jobs_open(struct jobs *jobs, struct jobs_plan *plan, const struct jobs_identity *us, uint8_t *number,
              char text[AGG_TEXT_MAX]);

/* Takes the job out; its memory is freed by a later jobs_reclaim. */
void jobs_close(struct jobs *jobs, uint8_t number);

/* Frees what no lcore can hold any more. */
void jobs_reclaim(struct jobs *jobs);

/* Frees everything. No lcore runs. */
void jobs_free(struct jobs *jobs);

#endif
