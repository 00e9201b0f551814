/* The worker's side of SwitchML by RDMA, as the published client has it ("p4app-switchML", client library,
 * RDMA backend), and of its NIC what an unreliable connection does: for tests and programs without a NIC. A
 * message under way by each queue pair, whose sum is written to registered memory; sent again when its time
 * is over.
 *
 * Two things are other than in the published client, whose sums may be wrong if a sum comes late after a
 * message was sent again: it sends from the memory that sums are written to, so that they can get into its
 * next message; and it numbers the messages of every tensor from 0 on, so that they can be taken for the next
 * tensor's.
 *
 * Pure: no clock, no sockets. The memory is the caller's. One thread at a time.
 */
#pragma once

#include "roce/pool.h"

struct rce_worker_config {
    uint16_t rank;
    uint16_t queue_pairs, packet_bytes, packets; /* as in struct rce_pool_config */
    uint32_t first_queue_pair;                   /* of its own; the others' numbers follow */
    uint32_t key;                                /* of its memory */
    uint64_t address;                            /* that its memory has for the switch */
    uint8_t *memory;                             /* rce_worker_message() bytes for each queue pair */
    uint64_t timeout_ns;
};

static inline size_t rce_worker_message(const struct rce_worker_config *cfg)
{
    return (size_t)cfg->packets * cfg->packet_bytes;
}

struct rce_worker_stats {
    uint64_t sent, messages, timeouts;
    uint64_t voided; /* messages of sums of which a packet did not come, or not in order */
    uint64_t others; /* whole messages that were not waited for: copies */
    uint64_t bad;    /* packets that are none of the job's */
};

/* A queue pair; not for callers. */
struct rce_worker_pair {
    uint32_t message; /* that is under way */
    bool waits;
    uint8_t version;
    uint16_t place;  /* of the packet that is to be sent; packets: none */
    uint32_t number; /* of that packet */
    uint64_t sent_at;
    /* Of the message that comes. */
    uint16_t comes; /* place of the packet that must follow; packets: none */
    uint32_t expected;
};

struct rce_worker {
    struct rce_worker_config cfg;
    const uint8_t *from;
    uint8_t *to;
    uint32_t messages, left;
    uint32_t first; /* number of the tensor's first message */
    struct rce_worker_stats stats;
    struct rce_worker_pair pair[RCE_MAX_QUEUE_PAIRS];
};

void rce_worker_init(struct rce_worker *w, const struct rce_worker_config *cfg);

/* Begins to sum so many messages of elements, in the order of the wire, whose sums go to `to`. Both stay the
 * caller's, and as they are until all sums have come. None is under way. */
void rce_worker_begin(struct rce_worker *w, const uint8_t *from, uint8_t *to, uint32_t messages);

static inline bool rce_worker_is_done(const struct rce_worker *w)
{
    return w->left == 0;
}

/* Writes the next packet to send; without an ICRC, for which there is room (roce_seal). Returns its length;
 * 0: there is none now. */
enum { RCE_PACKET_MAX = ROCE_HEADERS_MAX + RCE_MAX_PACKET_BYTES + ROCE_ICRC_BYTES };
size_t rce_worker_send(struct rce_worker *w, uint64_t now, uint8_t payload[RCE_PACKET_MAX]);

/* A packet from the switch, whose ICRC was right. */
void rce_worker_receive(struct rce_worker *w, const uint8_t *payload, size_t bytes);

/* What is to be sent again by now. Returns when it is to be called next; UINT64_MAX: nothing is waited for.
 */
uint64_t rce_worker_tick(struct rce_worker *w, uint64_t now);
