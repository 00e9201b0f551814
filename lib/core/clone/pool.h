/* Sums of frames that only pass by ("An In-Network Parameter Aggregation using DPDK for Multi-GPU Deep
 * Learning", Furukawa, Itsubo, Matsutani, 2021, section 4.2.2): workers send gradients to a host by a
 * protocol that permits no change of a frame, so the switch forwards each as it came, and sums what a copy
 * carries. The sums are read from outside, and sent to a collector, if there is one, in the packets of
 * wire/hostagg.h.
 *
 * Chunk c goes through slot c % slots. Nobody waits for the switch, so a worker may be as far ahead as it
 * likes: a chunk that comes to a slot in which an older one still lacks copies takes its place, and the older
 * one is given up. A chunk that has waited for longer than missing_after is reported, once; it is still
 * summed if the copies come. What a worker sends again is recognised by its number. Sums are made in the
 * workers' order.
 *
 * Memory: the caller gives one block of cln_pool_footprint() bytes, 64-byte aligned. Threads: slots are dealt
 * to shards, slot i to shard i % shards; a shard's frames and ticks are one thread's. The pool begins with a
 * struct gather (gather/gather.h), whose views any thread may ask for.
 */
#pragma once

#include "clone/layout.h"
#include "protocol/protocol.h"

struct cln_pool;
struct cln_slot;

enum { CLN_MAX_SLOTS = 16384, CLN_MAX_CHUNK_BYTES = 9000, CLN_MAX_SHARDS = 64 };

struct cln_pool_config {
    uint16_t workers;     /* n, at least 1; with the collector at most AGG_MAX_WORKERS */
    uint16_t slots;       /* a power of two, 1..CLN_MAX_SLOTS */
    uint16_t shards;      /* 1..CLN_MAX_SHARDS */
    uint16_t chunk_bytes; /* whole elements, 1..CLN_MAX_CHUNK_BYTES */
    uint8_t job;          /* number in the collector's packets */
    uint8_t code;         /* of operation and type (kernels.h) */
    bool collector;       /* somebody gets sums and reports: member n */
    uint64_t missing_after_ns;
    struct cln_layout layout;
    const struct agg_kernels *kernels;
};

/* Bytes for a pool; 0 if the configuration is out of range. */
size_t cln_pool_footprint(const struct cln_pool_config *cfg);

/* mem: cln_pool_footprint(cfg) bytes, 64-byte aligned, owned by the caller for the pool's life. */
struct cln_pool *cln_pool_init(void *mem, const struct cln_pool_config *cfg);

/* What a frame carries. */
struct cln_copy {
    uint32_t sequence;
    const uint8_t *elements; /* in the frame: chunk_bytes of them */
};

enum cln_found {
    CLN_FOUND,
    CLN_OTHER_FLOW, /* it goes to another host than the job's, or is of another type */
    CLN_NO_MATCH,   /* it is no frame of gradients */
    CLN_TOO_SHORT,  /* it ends before its elements do */
};

/* Finds them in a frame of so many bytes. */
enum cln_found cln_pool_find(const struct cln_pool *pool, const uint8_t *frame, size_t bytes,
                             struct cln_copy *copy);

struct cln_slot *cln_pool_locate(struct cln_pool *pool, uint32_t sequence);

/* Applies a worker's copy to its slot. verdict->reason is an enum cln_reason; verdict->action, which follows
 * from it, is the caller's to fill in. */
void cln_pool_apply(struct cln_pool *pool, struct cln_slot *slot, uint16_t worker,
                    const struct cln_copy *copy, uint64_t now, struct agg_verdict *verdict);

/* The next report of a chunk of this shard that lacks copies for too long; false: there is none by now. */
bool cln_pool_tick(struct cln_pool *pool, unsigned shard, uint64_t now, struct agg_verdict *verdict);

/* Whether there will be one in this shard though no frame comes. */
bool cln_pool_awaits_time(const struct cln_pool *pool, unsigned shard);
