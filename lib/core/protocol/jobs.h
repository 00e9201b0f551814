/* The running jobs of a protocol, as a packet finds them: by the job's number, and in the job by the address
 * of the sender.
 *
 * The maker of a job fills it in, publishes it (agg_jobs_set), and does not change it any more; from then on
 * any thread may find it, without a lock. After taking a job out, its maker must wait until no thread can
 * still hold it before it uses the memory again. All memory is the caller's.
 *
 * Addresses and UDP ports are in network order.
 */
#ifndef SWAGG_CORE_PROTOCOL_JOBS_H
#define SWAGG_CORE_PROTOCOL_JOBS_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct agg_protocol;

enum {
    AGG_JOBS = 256,         /* numbers that jobs of one protocol can have: 0 .. AGG_JOBS - 1 */
    AGG_MAX_WORKERS = 1024, /* ranks that a job can have */
    AGG_MAC_BYTES = 6,
};

/* Where a packet came from. */
struct agg_sender {
    uint32_t ip;
    uint16_t port; /* UDP */
    uint8_t mac[AGG_MAC_BYTES];
};

/* A member's place: open addressing, at most half of the seats are taken. */
struct agg_seat {
    uint64_t sender;            /* see agg_sender_key; 0: empty */
    uint8_t mac[AGG_MAC_BYTES]; /* its own, or its router's */
    uint16_t rank;
};

static_assert(sizeof(struct agg_seat) == 16, "four to a cache line");

struct agg_job {
    const struct agg_protocol *protocol;
    void *pool;
    uint8_t number;
    uint16_t size;  /* ranks */
    uint16_t seats; /* a power of two, at least 2 * size; 0: nobody has joined, and nobody is looked up */
    struct agg_seat *seat;
};

struct agg_jobs {
    struct agg_job *running[AGG_JOBS]; /* atomic pointers, by number; NULL: none */
};

/* NULL takes the job out. */
static inline void agg_jobs_set(struct agg_jobs *jobs, unsigned number, struct agg_job *job)
{
    __atomic_store_n(&jobs->running[number], job, __ATOMIC_RELEASE);
}

/* NULL: there is none. */
static inline struct agg_job *agg_jobs_find(const struct agg_jobs *jobs, unsigned number)
{
    return number < AGG_JOBS ? __atomic_load_n(&jobs->running[number], __ATOMIC_ACQUIRE) : NULL;
}

/* Never 0, whatever a packet contains: 0 marks an empty seat. */
static inline uint64_t agg_sender_key(uint32_t ip, uint16_t port)
{
    return UINT64_C(1) << 48 | (uint64_t)ip << 16 | port;
}

static inline unsigned agg_seat_of(const struct agg_job *job, uint64_t sender)
{
    return (unsigned)(sender * UINT64_C(0x9E3779B97F4A7C15) >> 32) & (job->seats - 1u);
}

/* How many seats a job of this many ranks needs. */
static inline uint16_t agg_seats_for(uint16_t size)
{
    uint16_t seats = 2;

    while (seats < 2 * size)
        seats *= 2;
    return seats;
}

/* Gives a member its seat, before the job is published. No two members may have the same address and UDP
 * port. */
static inline void agg_job_seat(struct agg_job *job, const struct agg_sender *member, uint16_t rank)
{
    uint64_t sender = agg_sender_key(member->ip, member->port);
    unsigned i = agg_seat_of(job, sender);

    while (job->seat[i].sender != 0)
        i = (i + 1) & (job->seats - 1u);
    job->seat[i] = (struct agg_seat){.sender = sender, .rank = rank};
    memcpy(job->seat[i].mac, member->mac, AGG_MAC_BYTES);
}

/* The seat of the member that sends from this address and UDP port; NULL: there is no such member. The caller
 * compares the MAC address. */
static inline const struct agg_seat *agg_job_find(const struct agg_job *job, uint32_t ip, uint16_t port)
{
    uint64_t sender = agg_sender_key(ip, port);

    for (unsigned i = agg_seat_of(job, sender);; i = (i + 1) & (job->seats - 1u)) {
        if (job->seat[i].sender == sender)
            return &job->seat[i];
        if (job->seat[i].sender == 0)
            return NULL;
    }
}

#endif
