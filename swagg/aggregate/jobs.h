/* The running jobs, as the data path sees them. Everything that depends on a job's protocol (pool, terms,
 * memory, length of packets) comes from the protocol's table (protocol/protocol.h).
 *
 * The main lcore builds a job, publishes it under its number, and does not change it any more. Polling lcores
 * read it without locks and hold no job between two rounds. A job that was taken out is freed once every
 * lcore has ended a round (RCU). Its pool has its own rules: a slot belongs to one lcore.
 */
#pragma once

#include <stdint.h>

#include <rte_byteorder.h>
#include <rte_rcu_qsbr.h>

#include "base/counters.h"
#include "config/config.h"
#include "port/frame.h"
#include "protocol/protocol.h"
#include "wire/control.h"

enum {
    JOBS_MAX = AGG_JOBS,
    /* shorter sums are copied, which is cheaper than keeping or sharing their buffers */
    JOBS_ATTACH_FROM_BYTES = 512,
    JOBS_PORT_UNKNOWN = 0xff, /* of a member that has not been heard yet */
};

struct job_member {
    struct frame_header header; /* of what the switch sends it */
    struct net_mac mac;
    uint8_t port;    /* where it joined, or JOBS_PORT_UNKNOWN; the bridge may know better by now */
    uint8_t network; /* the job's (port/vlans.h) */
    /* Of the NIC that carries what is sent to it (wire/roce.h), and of the next packet there: atomic, all
     * lcores count it. 0: packets are UDP datagrams. */
    uint32_t queue_pair, number;
};

/* The switch above, of a job in which this one is its worker (protocol/tree.h). */
struct job_parent {
    unsigned uplink; /* by number in the configuration */
    uint8_t number;  /* the job's, there */
    uint8_t ports;   /* UDP ports for data packets; those of slot i go to port i % ports */
    rte_be16_t from_port;
    struct job_member at[CTL_DATA_PORTS_MAX]; /* by port */
};

/* Members' packets that were dropped because something is amiss, or may be. */
struct job_amiss {
    uint64_t n;
    uint16_t rank; /* of the last one */
    uint8_t thread, reason;
};

/* What one lcore alone writes of a job; atomic. */
struct job_lane {
    /* frames that the pool keeps of this lcore's shards */
    _Alignas(RTE_CACHE_LINE_SIZE) uint32_t kept;
    struct job_amiss amiss[AGG_AMISSES]; /* by enum agg_amiss, from AGG_AMISS_ALONE on */
};

/* Of all members together. */
struct job_rate {
    uint64_t contributions, bytes; /* that counted; bytes without headers */
};

struct switch_job {
    struct agg_job common; /* as its protocol sees it; the first, for jobs_of */
    /* of its packets: they have a checksum of their own, or the configuration says so */
    bool without_udp_sum;
    bool is_static; /* in the configuration: nobody joins, members are known by their addresses */
    /* How many frames the pool may keep at once, all lcores together; their mbufs are the buffers of
     * protocol/protocol.h. Atomic: the main lcore changes it (jobs_share.h). */
    uint32_t frames;
    uint32_t turn;         /* bytes for which a busy lcore serves it in a turn; atomic, as frames (fair.h) */
    rte_be16_t heard_from; /* as in struct jobs_plan */
    struct job_lane *lane; /* by lcore */
    /* By thread (one, but in static jobs), by rank, in a tree by contributor; NULL: nobody has joined it.
     * Atomic: all are replaced at once, if a member's MAC address changes (jobs_move). */
    struct job_member *member;
    struct job_parent *parent; /* atomic, as member; NULL: there is no switch above */

    struct job_rate rate; /* in a second; atomic, written by the main lcore (jobs_share.h) */

    /* The main lcore's. */
    struct job_rate counted;        /* in all, when its rate was noted last */
    struct agg_pool_config made_of; /* particulars: a copy, the job's own */
    char name[CONFIG_JOB_MAX];
    uint8_t network;  /* that all its members are in (port/vlans.h) */
    uint16_t ranks;   /* of the whole job, wherever they are */
    int tenant;       /* by number, as in the configuration; -1: nobody's */
    bool takes_turns; /* false: replayed, and nobody's: what is lost is not sent again, so it never waits */
    size_t bytes;
    uint32_t slots;
    uint32_t frame_bytes;   /* of its longest */
    uint32_t frames_wanted; /* that it could keep at once */
    uint32_t founder;       /* the IP address that it was founded from; 0: nobody's */
    uint64_t retired_at;    /* RCU token */
    struct switch_job *next_retired;
};

/* What the configuration lets jobs hold, beside jobs.bytes_max and frames_max; 0: there is no quota. */
struct jobs_quota {
    uint32_t slots; /* of all jobs */
    size_t bytes_a_job;
    uint32_t frames_a_job;
    unsigned tenants;
    const struct config_tenant *tenant; /* by number */
};

struct reserved;

struct jobs {
    struct agg_jobs
        running[COUNTED_PROTOCOLS]; /* by enum agg_protocol_id; every one in a struct switch_job */
    /* Of these, those that have a switch above, by uplink and by their numbers there. */
    struct agg_jobs above[SWAGG_MAX_UPLINKS][COUNTED_PROTOCOLS];

    /* The main lcore's. */
    uint32_t count;                                  /* running jobs that take turns; atomic */
    uint64_t closes;                                 /* so far */
    uint64_t closed_at[COUNTED_PROTOCOLS][JOBS_MAX]; /* closes when the number was freed; 0: never used */
    struct rte_rcu_qsbr *rcu;
    const struct agg_kernels *kernels;
    uint16_t shards; /* of the data path; 0: 1 */
    bool delays;     /* pools note by how much each rank is late */
    struct switch_job *retired;
    size_t bytes, bytes_max; /* of all pools, those still to be freed included */
    uint32_t frames_max;     /* that all pools together may keep */
    uint32_t frames;         /* of these, given out or still kept, when they were last divided; atomic */
    struct jobs_quota quota;
    const struct reserved *reserved; /* room that is kept for jobs; NULL: none */
    uint64_t rated_at;               /* jobs_share.h */
};

/* The job around what its protocol sees of it. */
static inline const struct switch_job *jobs_of(const struct agg_job *job)
{
    return (const struct switch_job *)job;
}

/* Of all lcores: how many, and the last one at the lcore that has had most. kind: not AGG_NOT_AMISS. Any
 * thread; the parts may be of different moments. */
struct job_amiss jobs_amiss(const struct switch_job *job, enum agg_amiss kind);

/* NULL: there is none. protocol: enum agg_protocol_id. */
static inline const struct switch_job *jobs_find(const struct jobs *jobs, unsigned protocol, unsigned number)
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
    uint8_t port; /* of the switch, where it was heard, or JOBS_PORT_UNKNOWN */
    rte_be16_t udp_port;
    rte_be32_t ip;
    rte_be32_t hears_from; /* the address that it is sent packets from; 0: the switch's */
    uint32_t queue_pair;   /* as in struct job_member */
};

/* Where the switch sends what is for this thread of a rank. */
static inline const struct job_member *jobs_member(const struct switch_job *job, unsigned thread,
                                                   unsigned rank)
{
    const struct job_member *member = __atomic_load_n(&job->member, __ATOMIC_ACQUIRE);

    return &member[thread * job->common.size + rank];
}

/* The switch above, as it is found when the job opens. */
struct jobs_parent {
    unsigned uplink;
    uint8_t ports;         /* 1 .. CTL_DATA_PORTS_MAX, from that of `at` on */
    rte_be16_t from_port;  /* where what is for it is to come from */
    struct jobs_member at; /* udp_port: its first for data */
};

/* What a job is to be like, whether its members join or are in the configuration. */
struct jobs_plan {
    const struct agg_protocol *protocol;
    struct agg_terms terms; /* granted */
    bool as_it_is;          /* the terms must not be lowered, since the job resumes after a restart, is in the
                               configuration, or has its root at another switch */
    bool is_static;         /* nobody joins it: its members are known by their addresses */
    bool without_udp_sum;   /* its packets need no UDP checksum */
    uint8_t threads;        /* of each member, from its UDP port on; 0 counts as 1 */
    rte_be16_t heard_from; /* the UDP port that members are sent packets from; 0: the one they have sent to */
    const struct keys_secret *shared; /* by its members; read by jobs_open only. NULL: they share no secret */
    struct agg_particulars particulars; /* of its members; read by jobs_open only */
    uint16_t size;                      /* members: ranks, in a tree contributors */
    const struct agg_node *tree;        /* NULL: this is the job's only switch. Read by jobs_open only */
    struct jobs_parent parent;          /* if the tree has one */
    char name[CONFIG_JOB_MAX];
    uint8_t network;                  /* as in struct switch_job */
    int tenant;                       /* as in struct switch_job */
    uint32_t founder;                 /* as in struct switch_job; 0: it may use all memory that is left */
    uint64_t unusable[JOBS_MAX / 64]; /* numbers that it must not have: bit n % 64 of word n / 64 */
    struct jobs_member member[AGG_MAX_WORKERS]; /* by rank, or contributor */
};

/* Makes and publishes a running job with a pool for plan->terms, and chooses its number: the least that was
 * never used, else the one that was freed longest ago. Unless as_it_is, lowers plan->terms to what memory and
 * quotas have room for; a quarter of the memory is left to jobs of other founders. The job sums in place as
 * far as it may keep frames (jobs_share.h). -ENOSPC: no room, -EMFILE: no number, -EINVAL: its protocol has
 * no pools for these terms; text says why, and who holds what there is. */
int jobs_open(struct jobs *jobs, struct jobs_plan *plan, const struct jobs_identity *us, uint8_t *number,
              char text[AGG_TEXT_MAX]);

/* Gives a job of the configuration a new pool in the memory of the old one, as if it had been closed and
 * opened again; nothing of what came before is left. Waits for the lcores, which drop its packets meanwhile.
 * unless_heard: false, and it goes on as it is, if the pool has heard something since it was asked last. */
bool jobs_renew(struct jobs *jobs, unsigned protocol, uint8_t number, bool unless_heard);

/* Where a member is now. */
struct jobs_location {
    struct net_mac mac;
    uint8_t port;
};

/* From now on this rank of a job that it has joined sends from there and is sent to there. Waits for the
 * lcores. -ENOMEM: nothing has changed. */
int jobs_move(struct jobs *jobs, unsigned protocol, uint8_t number, unsigned rank,
              const struct jobs_location *to);

/* The same for the switch above. */
int jobs_move_parent(struct jobs *jobs, unsigned protocol, uint8_t number, const struct jobs_location *to);

/* The static job that packets from this address and UDP port belong to, and the seat of their sender; NULL:
 * none. The sender's MAC address is not looked at. */
const struct switch_job *jobs_of_sender(const struct jobs *jobs, const struct agg_sender *sender,
                                        const struct agg_seat **seat);

/* Takes the job out; its memory is freed by a later jobs_reclaim. protocol: enum agg_protocol_id. */
void jobs_close(struct jobs *jobs, unsigned protocol, uint8_t number);

/* Frees what no lcore can hold any more, and divides the frames anew. */
void jobs_reclaim(struct jobs *jobs);

/* Frees everything. No lcore runs. */
void jobs_free(struct jobs *jobs);
