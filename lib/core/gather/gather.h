/* Slots that gather whole contributions: each worker's is kept until the last one to the chunk has come; then
 * all are summed at once, in the workers' order, so the sum is the same bits in every run. This is what
 * protocols have in common whose jobs come from rules in the configuration (hostagg/, clone/): a protocol
 * decides which chunk a slot is to collect and what is sent, and has further fields for its pool and for each
 * slot.
 *
 * Chunk c goes through slot c % slots. Elements are in the order of the wire.
 *
 * Memory: the caller gives one block of gather_footprint() bytes, 64-byte aligned. The protocol's pool lies
 * at its beginning and begins with a struct gather; each slot is the protocol's struct, which begins with a
 * struct gather_slot. Pure.
 *
 * Threads: after init, different slots may be used by different threads at once, one slot by one thread only.
 * What any thread may call says so.
 */
#pragma once

#include "protocol/fixed_terms.h"
#include "protocol/protocol.h"

enum { GATHER_MAX_SLOTS = 16384, GATHER_HEAD_ROOM = 64 };

struct gather_config {
    uint16_t workers;     /* that contribute, 0 .. workers - 1; at least 1 */
    uint16_t members;     /* workers, then those who only hear; at most AGG_MAX_WORKERS */
    uint16_t slots;       /* a power of two, 1..GATHER_MAX_SLOTS */
    uint16_t chunk_bytes; /* of the longest chunk: whole elements, at least one */
    uint8_t code;         /* of operation and type (kernels.h) */
    uint16_t pool_struct_bytes, slot_struct_bytes; /* sizeof the protocol's */
    const struct agg_kernels *kernels;
};

struct gather {
    struct gather_config cfg;
    size_t element, pool_bytes, head_bytes, chunk_room, slot_bytes; /* from one slot to the next */
    uint16_t map_words;
    bool heard; /* atomic */
};

/* Written by the slot's owner only; what others read is atomic. */
struct gather_slot {
    uint32_t expected;    /* the chunk that is being collected */
    uint16_t contributed; /* workers of whom there is a contribution to it */
    uint16_t sum_bytes;   /* of the last sum */
    uint32_t sum_of;      /* its chunk */
    uint32_t sums;        /* made in this slot, twice; odd while one is being made (a sequence lock) */
};

/* Bytes for a pool; 0 if the configuration is out of range. */
size_t gather_footprint(const struct gather_config *cfg);

/* g: the beginning of the block. All slots are empty, and the protocol's fields in them zero; its fields of
 * the pool are for it to fill in afterwards. The configuration is in range. */
void gather_init(struct gather *g, const struct gather_config *cfg);

/* The slot of this chunk. A caller best prefetches it while it locates the rest of its burst. */
struct gather_slot *gather_slot(const struct gather *g, uint32_t chunk);

/* The slot collects this chunk from now on; what it has of another is forgotten. */
void gather_expect(const struct gather *g, struct gather_slot *slot, uint32_t chunk);

/* Whether the chunk that the slot collects has this worker's contribution. */
bool gather_has(const struct gather *g, const struct gather_slot *slot, unsigned worker);

/* Adds a worker's contribution, of which there is none so far, to the chunk that the slot collects; bytes: as
 * many as those before it have. True: it was the last one. Then the sum lies at gather_sum(), slot->sum_bytes
 * of it, and the slot goes on to the chunk so many slots later. */
bool gather_add(const struct gather *g, struct gather_slot *slot, unsigned worker, const uint8_t *elements,
                size_t bytes);

/* The last sum; it stays until the next is made. The GATHER_HEAD_ROOM bytes before it are the protocol's, for
 * the header that the sum is sent with. */
uint8_t *gather_sum(const struct gather *g, const struct gather_slot *slot);

/* Which workers have contributed, as a map (protocol/ranks.h). Returns how many bytes these are. */
size_t gather_write_map(const struct gather *g, const struct gather_slot *slot, uint8_t *to);

/* A packet has come that belongs to what the slots are doing. */
void gather_note_heard(struct gather *g);

/* For struct agg_protocol; the pool is a protocol's, which begins with a struct gather. Members who never
 * contribute count as if they had. */
bool gather_heard(void *pool);
bool gather_view(const void *pool, uint32_t i, struct agg_slot_view *view);
bool gather_view_sum(const void *pool, uint32_t i, struct agg_sum_view *view);

/* What all such protocols have in their tables: nobody joins their jobs, and nobody's buffers are kept. */
#define GATHER_PROTOCOL                                                                                      \
    .check = agg_fixed_check, .differ = agg_fixed_differ, .grant = agg_fixed_grant,                          \
    .lower = agg_fixed_lower, .drain = agg_drain_nothing, .heard = gather_heard, .view = gather_view,        \
    .view_sum = gather_view_sum
