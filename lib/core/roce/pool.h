/* The switch's side of SwitchML's RDMA transport ("p4app-switchML": the P4 program's rdma_receiver and
 * rdma_sender, the client library's RDMA backend; docs/protocol.md, "SwitchML by RDMA").
 *
 * A worker writes a message by each of its queue pairs, and waits for its sum before it writes the next
 * there. Each packet of the message has a slot: packet i of a message by queue pair q those slot q * packets
 * + i, of two versions, which a worker's messages take in turn. Sums are made by SwitchML's pool
 * (switchml/pool.h). Of a message only the first packet says which version, and an unreliable connection
 * sends nothing again, so
 *
 *   - a message is taken in order, from its first packet on; after a gap the rest of it is dropped. What
 *     came before has been summed, and is known when the worker sends the whole message again;
 *   - by the numbers of packets, which never go back, late copies are told from a worker's latest message. So
 *     a worker's version that is not the one being collected is that of the sum before;
 *   - what goes to a worker by one queue pair is made of whole messages in order, too: a sum that would come
 * out of order (a worker has sent again what others complete meanwhile) is held back, and is there when the
 * worker asks the next time. NICs take packets by their numbers alone, and would write it to a wrong place.
 *
 * Memory: the caller's, rce_pool_footprint() bytes, 64-byte aligned. Threads: queue pair q of all workers is
 * one thread's at a time, and so are its slots; rce_pool_view may be called by any thread.
 */
#pragma once

#include "protocol/protocol.h"
#include "roce/reasons.h"
#include "wire/roce.h"

enum {
    RCE_MAX_WORKERS = 64,
    RCE_MAX_QUEUE_PAIRS = 256, /* of a worker */
    RCE_MAX_PACKETS = 64,      /* of a message */
    RCE_MIN_PACKET_BYTES = 128,
    RCE_MAX_PACKET_BYTES = 1024,
    /* Queue pairs of the switch as the published controller numbers them: this, the worker's rank from bit 16
     * on, and below it the queue pair's index. */
    RCE_QUEUE_PAIR = 0x800000,
};

/* What is to be known of a worker beyond its address: the queue pairs of its NIC in the order of their
 * indices, and the key of its memory. */
struct rce_member {
    uint32_t key;
    uint32_t queue_pair[RCE_MAX_QUEUE_PAIRS];
};

struct rce_pool;
struct rce_pair;

struct rce_pool_config {
    uint16_t workers;                /* 1..RCE_MAX_WORKERS */
    uint16_t queue_pairs;            /* of each, 1..RCE_MAX_QUEUE_PAIRS */
    uint16_t packet_bytes;           /* of elements: 128, 256, 512 or 1024 */
    uint16_t packets;                /* of a message: a power of two, up to RCE_MAX_PACKETS */
    const struct rce_member *member; /* [workers], read by init only */
    const struct agg_kernels *kernels;
};

static inline uint32_t rce_slots(const struct rce_pool_config *cfg)
{
    return (uint32_t)cfg->queue_pairs * cfg->packets;
}

/* 0: out of range. */
size_t rce_pool_footprint(const struct rce_pool_config *cfg);
struct rce_pool *rce_pool_init(void *mem, const struct rce_pool_config *cfg);

/* By which queue pair of this worker the packet came; NULL: the pool has no such one, or it is another's. */
struct rce_pair *rce_pool_locate(struct rce_pool *pool, uint16_t rank, const struct roce_packet *p);

/* Applies the packet of rank, which came by pair and was sound. verdict->reason is an enum rce_reason, its
 * action the caller's to fill in; the payload are the elements alone: rce_pool_wrap and rce_seal make the
 * packet of each receiver. */
void rce_pool_apply(struct rce_pool *pool, struct rce_pair *pair, uint16_t rank, const struct roce_packet *p,
                    uint64_t now, struct agg_verdict *verdict);

/* As in struct agg_protocol. */
bool rce_pool_wrap(struct rce_pool *pool, uint16_t rank, const struct agg_verdict *verdict,
                   struct agg_wrapping *w);
void rce_seal(const struct agg_verdict *verdict, const uint8_t *headers, size_t bytes, uint8_t *tail);
bool rce_pool_heard(struct rce_pool *pool);
bool rce_pool_view(const struct rce_pool *pool, uint32_t slot, struct agg_slot_view *view);
