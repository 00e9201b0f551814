/* The running jobs of a protocol, as a packet finds them: by the job's number, and in the job by the address
 * of the sender. Members of static jobs do not know their job's number: it is found by their address.
 *
 * The maker of a job fills it in, publishes it (agg_jobs_set), and does not change it any more, but for its
 * seats, which are replaced as a whole; from then on
 * any thread may find it, without a lock. After taking a job out, its maker must wait until no thread can
 * still hold it before it uses the memory again. All memory is the caller's.
 *
 * Addresses and UDP ports are in network order.
 */
#pragma once

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "random/spread.h"

struct agg_protocol;

enum {
    AGG_JOBS = 256,         /* numbers that jobs of one protocol can have: 0 .. AGG_JOBS - 1 */
    AGG_MAX_WORKERS = 1024, /* members that a job can have at one switch */
    AGG_MAX_RANKS = 4096,   /* ranks that a job can have in a tree of switches (tree.h) */
    AGG_MAX_THREADS = 32,   /* of a member of a static job, each with a UDP port of its own */
    AGG_MAC_BYTES = 6,
    AGG_NETWORKS = 128, /* 7 bits of agg_sender_key */
};

/* Where a packet came from. */
struct agg_sender {
    uint32_t ip;
    uint16_t port; /* UDP */
    uint8_t mac[AGG_MAC_BYTES];
    uint8_t network; /* 0 .. AGG_NETWORKS - 1: of several that are kept apart, so that each has addresses of
                        its own */
};

/* A sender of whom nothing is known but its MAC address, which stands for IP address and port, too. */
static inline struct agg_sender agg_sender_of_mac(const uint8_t mac[AGG_MAC_BYTES])
{
    struct agg_sender sender = {0};

    memcpy(&sender.ip, mac, sizeof(sender.ip));
    memcpy(&sender.port, mac + sizeof(sender.ip), sizeof(sender.port));
    memcpy(sender.mac, mac, AGG_MAC_BYTES);
    return sender;
}

/* The place of a member's thread: open addressing, at most half of the seats are taken. */
struct agg_seat {
    uint64_t sender;            /* see agg_sender_key; 0: empty */
    uint8_t mac[AGG_MAC_BYTES]; /* its own, or its router's */
    uint16_t rank : 11, thread : 5;
};

static_assert(sizeof(struct agg_seat) == 16, "four to a cache line");
static_assert(AGG_MAX_WORKERS <= 1 << 11 && AGG_MAX_THREADS <= 1 << 5, "ranks and threads have room");

/* Which job the members of static jobs are in, by their addresses: open addressing, at most half of the
 * entries are taken. */
struct agg_senders {
    uint32_t entries; /* a power of two */
    uint64_t entry[]; /* agg_sender_key << 8 | the job's number; 0: empty */
};

struct agg_job {
    const struct agg_protocol *protocol;
    void *pool;
    uint8_t number;
    uint16_t size; /* ranks; in a tree (tree.h): contributors, beside which the switch above may have seats */
    uint32_t seats; /* a power of two, agg_seats_for(); 0: nobody has joined, and nobody is looked up */
    struct agg_seat *seat; /* atomic: all are replaced at once, if a member's MAC address changes */
    bool *heard;           /* by rank, or contributor (heard.h); atomic. NULL: nobody asks */
};

struct agg_jobs {
    struct agg_job *running[AGG_JOBS]; /* atomic pointers, by number; NULL: none */
    struct agg_senders *senders;       /* atomic; NULL: there are no static jobs */
};

/* NULL takes the job out. Sequentially consistent, as the look-up is: a maker who then sees, in this order,
 * that a thread has not begun to look knows that it will not find the job. */
static inline void agg_jobs_set(struct agg_jobs *jobs, unsigned number, struct agg_job *job)
{
    __atomic_store_n(&jobs->running[number], job, __ATOMIC_SEQ_CST);
}

/* NULL: there is none. */
static inline struct agg_job *agg_jobs_find(const struct agg_jobs *jobs, unsigned number)
{
    return number < AGG_JOBS ? __atomic_load_n(&jobs->running[number], __ATOMIC_SEQ_CST) : NULL;
}

/* 56 bits. Never 0, whatever a packet contains: 0 marks an empty seat. */
static inline uint64_t agg_sender_key(const struct agg_sender *from)
{
    return (uint64_t)from->network << 49 | UINT64_C(1) << 48 | (uint64_t)from->ip << 16 | from->port;
}

static inline unsigned agg_seat_of(const struct agg_job *job, uint64_t sender)
{
    return spread(sender) & (job->seats - 1u);
}

/* How many seats so many members, or threads of members, need. */
static inline uint32_t agg_seats_for(uint32_t members)
{
    uint32_t seats = 2;

    while (seats < 2 * members)
        seats *= 2;
    return seats;
}

/* Gives a member's thread (0 if it has but one) its seat, before the job is published. No two may have the
 * same address and UDP port. */
static inline void agg_job_seat(struct agg_job *job, const struct agg_sender *member, unsigned rank,
                                unsigned thread)
{
    uint64_t sender = agg_sender_key(member);
    unsigned i = agg_seat_of(job, sender);

    while (job->seat[i].sender != 0)
        i = (i + 1) & (job->seats - 1u);
    job->seat[i] = (struct agg_seat){.sender = sender, .rank = rank & 0x7FF, .thread = thread & 0x1F};
    memcpy(job->seat[i].mac, member->mac, AGG_MAC_BYTES);
}

/* The seat of the member that sends from this address and UDP port of this network; NULL: there is no such
 * member. The caller compares the MAC address. */
static inline const struct agg_seat *agg_job_find(const struct agg_job *job, const struct agg_sender *from)
{
    const struct agg_seat *seat = __atomic_load_n(&job->seat, __ATOMIC_ACQUIRE);
    uint64_t sender = agg_sender_key(from);

    for (unsigned i = agg_seat_of(job, sender);; i = (i + 1) & (job->seats - 1u)) {
        if (seat[i].sender == sender)
            return &seat[i];
        if (seat[i].sender == 0)
            return NULL;
    }
}

static inline uint32_t agg_sender_index(const struct agg_senders *senders, uint64_t sender)
{
    return spread(sender) & (senders->entries - 1);
}

/* While the table is made: a member of the job of this number. */
static inline void agg_senders_add(struct agg_senders *senders, uint64_t sender, uint8_t number)
{
    uint32_t i = agg_sender_index(senders, sender);

    while (senders->entry[i] != 0)
        i = (i + 1) & (senders->entries - 1);
    senders->entry[i] = sender << 8 | number;
}

/* The number of the static job that this sender is a member of, else the one that its packet names. */
static inline uint8_t agg_jobs_number(const struct agg_jobs *jobs, const struct agg_sender *from,
                                      uint8_t named)
{
    const struct agg_senders *senders = __atomic_load_n(&jobs->senders, __ATOMIC_ACQUIRE);
    const uint64_t sender = agg_sender_key(from);

    if (senders == NULL)
        return named;
    for (uint32_t i = agg_sender_index(senders, sender); senders->entry[i] != 0;
         i = (i + 1) & (senders->entries - 1))
        if (senders->entry[i] >> 8 == sender)
            return (uint8_t)senders->entry[i];
    return named;
}
