/* The switch's side of host-addressed aggregation ("An In-Network Parameter Aggregation using DPDK for
 * Multi-GPU Deep Learning", Furukawa, Itsubo, Matsutani, 2021, section 4.2.1). Workers send their gradients
 * to a host; the switch keeps the packets, sums each chunk when all workers' contributions are there, sends
 * the sum to the workers in the host's place, and tells the host.
 *
 * Chunk c of a run goes through slot c % slots. A worker may send chunk c once it has the sum of chunk c -
 * slots, so a slot collects one chunk and needs only the sum before it for workers that have lost it. The
 * paper says how a loss is seen, by the sequence number; what is done about it is ours: the worker sends its
 * contribution again, or asks.
 *
 * Sums are made at once in the workers' order, when the last contribution is there: the same bits in every
 * run.
 *
 * Why no sum is wrong: it is the sum of one contribution of each worker with the same run and sequence
 * number, and a worker that sends a chunk of a run again sends the same. What a slot has seen decides only
 * what it waits for. A slot that has completed nothing since it was made, or since a new run began, goes to
 * wherever the workers are, so a switch that was restarted takes part again. Sums that were lost then are
 * lost for good: the workers that lack them must begin a new run.
 *
 * Members: workers 0 .. n-1, and the host as n, unless it is absent.
 *
 * Memory: the caller gives one block of hag_pool_footprint() bytes, 64-byte aligned. Threads: after init,
 * different slots may be used by different threads at once, one slot by one thread only. The
 * pool begins with a struct gather (gather/gather.h), whose views any thread may ask for: nobody waits for
 * the host, so it counts there as one that has contributed.
 */
#pragma once

#include "protocol/protocol.h"
#include "wire/hostagg.h"

struct hag_pool;
struct hag_slot;

enum { HAG_MAX_SLOTS = 16384, HAG_MAX_CHUNK_BYTES = 8960 };

enum hag_host {
    HAG_HOST_ABSENT,    /* it is no member, and hears nothing */
    HAG_HOST_HEARS,     /* it gets HAG_DONE for each chunk */
    HAG_HOST_GETS_SUMS, /* it gets the sums, as the workers do */
    HAG_HOSTS
};

struct hag_pool_config {
    uint16_t workers;     /* n, at least 1; with the host at most AGG_MAX_WORKERS */
    uint16_t slots;       /* a power of two, 1..HAG_MAX_SLOTS */
    uint16_t chunk_bytes; /* whole elements, 1..HAG_MAX_CHUNK_BYTES */
    uint8_t job;          /* number on the wire */
    uint8_t code;         /* of operation and type (kernels.h) */
    enum hag_host host;
    const struct agg_kernels *kernels;
};

/* Bytes for a pool; 0 if the configuration is out of range. */
size_t hag_pool_footprint(const struct hag_pool_config *cfg);

/* mem: hag_pool_footprint(cfg) bytes, 64-byte aligned, owned by the caller for the pool's life. */
struct hag_pool *hag_pool_init(void *mem, const struct hag_pool_config *cfg);

/* The slot of chunk `sequence`. The caller prefetches it while it locates the rest of its burst. */
struct hag_slot *hag_pool_locate(struct hag_pool *pool, uint32_t sequence);

/* Applies member's packet to its slot. verdict->reason is an enum hag_reason; verdict->action, which follows
 * from it, is the caller's to fill in. No buffer is kept. */
void hag_pool_apply(struct hag_pool *pool, struct hag_slot *slot, uint16_t member, const struct hag_packet *p,
                    struct agg_verdict *verdict);
