/* The switch's side of the SwitchML slot protocol ("Scaling Distributed Machine Learning with In-Network
 * Aggregation", NSDI 2021, section 4.5, algorithm 3; below: the SwitchML paper): one job's pool of slots.
 *
 * It differs from the paper's switch (docs/protocol.md, "Departures", says why): a job's chunks are numbered
 * through its whole life by a running tag, and chunk `tag` always goes through slot tag % slots, version (tag
 * / slots) & 1. So every slot knows exactly which tag it is collecting (`expected`) and which one it
 * completed last (`expected - slots`, the shadow copy). Everything older is a stale duplicate, everything
 * newer is an error; neither can change a sum. Jobs of published clients have labels in place of tags.
 *
 * Memory: the caller gives one block of sml_pool_footprint() bytes, 64-byte aligned; nothing is allocated
 * here, and at the end only kept buffers must be given back (sml_pool_drain). Threads: after init, different
 * slots may be used by different threads at once; one slot by one thread only (its owner). sml_pool_locate
 * reads only what never changes; sml_pool_view may be called by any thread.
 */
#pragma once

#include "keys/keys.h"
#include "protocol/protocol.h"
#include "switchml/elements.h"
#include "switchml/reasons.h"
#include "wire/switchml.h"

struct sml_pool;
struct sml_slot;

/* What a packet does to its slot, as sml_pool_apply: each kind of pool has its own. */
typedef void sml_role_fn(struct sml_pool *pool, struct sml_slot *slot, uint16_t rank,
                         const struct sml_packet *p, void *buffer, uint64_t now, struct agg_verdict *verdict);

struct sml_pool_config {
    uint16_t workers;     /* n, 1..AGG_MAX_WORKERS */
    uint16_t slots;       /* s, 1..SML_MAX_SLOTS: a power of two; labelled: a multiple of threads */
    uint16_t chunk_bytes; /* 4 * k, SML_MIN_CHUNK_BYTES..SML_MAX_CHUNK_BYTES */
    uint8_t job;          /* number on the wire */
    enum xfer_format format;
    enum xfer_mode mode;
    enum xfer_checksum checksum;
    const struct keys_secret *shared; /* XFER_CHECKSUM_KEYED: what the members share. Read by init only */
    bool arrivals;                    /* note who is late (sml_pool_view_rank) */
    uint16_t shards;    /* slot i is of shard i % shards; the slots of one shard have the same owner. 0: 1 */
    uint32_t first_tag; /* the first chunk's tag */
    bool resumed; /* the job outlived its switch: ranks may hand back (SML_RESTORE) the results they hold
                     of the chunks first_tag .. first_tag + slots - 1 */
    /* 0: a tag has 32 bits. Else only the low tag_bits of it count, so that a capture of 2^tag_bits chunks,
     * at least 4 * slots, can be replayed over and over. For measurements only: a packet that is late by half
     * of them or more counts as a new one */
    uint8_t tag_bits;
    bool labelled;   /* the workers are published clients, which know neither running tags nor any packet but
                        DATA: chunks are told apart by their labels (labels.h). No resumed, no tag_bits */
    uint8_t threads; /* labelled: of each worker, which share the slots out evenly; 0 counts as 1 */
    struct sml_table table; /* what indices stand for, typed; its values fit the sum of all ranks */
    uint16_t quorum; /* 0: a chunk is complete with all contributions. Else typed, without a role or tag_bits:
                        it may be closed with so many, 1..workers, once it was collected for wait_ns */
    uint64_t wait_ns; /* with a quorum */
    /* Typed, without a quorum: a contribution may have no elements, its rank has nothing to add. Its
     * operation has no finish (kernels.h): what rounds or divides once needs all. */
    bool empties;
    const struct agg_kernels *kernels;
    /* In a tree of switches (relay/slots.h): */
    sml_role_fn *role; /* NULL: there is no tree */
    uint16_t ranks; /* whose contributions the workers bring, and by whose number an average is divided; 0: a
                       rank a worker */
    uint16_t role_bytes; /* of each slot, for the role: zero at first, 8-byte aligned */
};

/* Bytes for a pool; 0 if the configuration is out of range. */
size_t sml_pool_footprint(const struct sml_pool_config *cfg);

/* mem: sml_pool_footprint(cfg) bytes, 64-byte aligned, owned by the caller for the pool's life. */
struct sml_pool *sml_pool_init(void *mem, const struct sml_pool_config *cfg);

/* Stage one: the slot this packet belongs to, checked for range only; NULL: it is none of this thread's. Its
 * memory is asked for, and arrives while the adapter locates the rest of its burst. thread: of the sender,
 * below cfg.threads. */
struct sml_slot *sml_pool_locate(struct sml_pool *pool, const struct sml_packet *p, unsigned thread);

/* Between the two: asks for the memory that the packet is added to. The slot should have arrived. */
void sml_pool_fetch(const struct sml_pool *pool, struct sml_slot *slot, const struct sml_packet *p);

/* Stage two: applies rank's packet to its slot. verdict->reason is an enum sml_reason; verdict->action, which
 * follows from it, is the caller's to fill in. The adapter determines rank < workers, which is not on the
 * wire. now: ns, of a monotonic clock; it says who is late, and changes no sum.
 *
 * buffer is the adapter's name for the memory that the packet lies in, which the pool only stores: the
 * contribution that starts a sum stays where it is, and the others are added to it there. The
 * SML_HEADER_BYTES before p->body, the body and the trailer are written to until the chunk is complete; then
 * they are the result and do not change any more. At most two buffers a slot are kept at any time. Each comes
 * back in `released` when its result is no longer needed, or from sml_pool_drain. NULL: the body is read
 * during the call only, and copied.
 *
 * The result of chunk `tag` stays where the verdict says, unchanged, until the slot takes the first
 * contribution to chunk tag + 2 * slots, which cannot come before the slot has reported chunk tag + slots
 * complete. Ranks that have not contributed to a restored chunk do not want its result: they hold it, or will
 * get it as the answer to their contribution. */
void sml_pool_apply(struct sml_pool *pool, struct sml_slot *slot, uint16_t rank, const struct sml_packet *p,
                    void *buffer, uint64_t now, struct agg_verdict *verdict);

/* A pool with a quorum: closes the next chunk of this shard that was collected for wait_ns by now, or for
 * which only ranks are missing that have not been heard since a chunk was closed without them. False: there
 * is none. The shard's owner calls it, until it says so, a few times in wait_ns. */
bool sml_pool_tick(struct sml_pool *pool, unsigned shard, uint64_t now, struct agg_verdict *verdict);

/* Whether time alone may close a chunk of this shard: a pool with a quorum is collecting some. Of the shard's
 * owner. */
bool sml_pool_awaits_time(const struct sml_pool *pool, unsigned shard);

/* Whether since the last such question a packet came that belongs to what a labelled pool is doing: a
 * contribution, or the copy of one. Any thread may ask, one at a time; a pool that is not labelled says no.
 */
bool sml_pool_heard(struct sml_pool *pool);

/* Gives back all buffers that are still kept; the pool must not be used any more. */
void sml_pool_drain(struct sml_pool *pool, void (*release)(void *buffer));

uint16_t sml_pool_slots(const struct sml_pool *pool);

/* What was noted of a rank < workers, all shards together; false: nothing is noted. Any thread may ask, and
 * may see the fields at different moments. */
bool sml_pool_view_rank(const struct sml_pool *pool, uint16_t rank, struct agg_rank_view *view);

/* For telemetry: what a slot is doing; chunk is a tag, and chunk - slots was completed last, if any was. Any
 * thread may ask; when it is not the slot's owner, the fields can be from different moments. */
void sml_pool_view(const struct sml_pool *pool, uint16_t slot, struct agg_slot_view *view); /* slot < slots */
