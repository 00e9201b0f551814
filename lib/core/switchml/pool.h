/* The switch's side of the SwitchML slot protocol (SwitchML paper, section 4.5, algorithm 3): one job's pool
 * of slots.
 *
 * What differs from the paper's switch, and why (docs/protocol.md tells it at length): a job's chunks are
 * numbered through its whole life by a running tag, and chunk `tag` always goes through slot tag % slots,
 * version (tag / slots) & 1. So every slot knows exactly which tag it is collecting (`expected`) and which
 * one it completed last (`expected - slots`, the shadow copy). Everything older is a stale duplicate,
 * everything newer is a mistake; neither can touch a sum.
 *
 * Memory: the caller gives one block of sml_pool_footprint() bytes, 64-byte aligned; nothing is allocated
 * here, and nothing needs to be torn down but what the pool was given to keep (sml_pool_drain). Threads:
 * after init, different slots may be used by different threads at once; one slot by one thread only (its
 * owner). sml_pool_locate reads only what never changes; sml_pool_view may be called by any thread.
 */
#ifndef SWAGG_CORE_SWITCHML_POOL_H
#define SWAGG_CORE_SWITCHML_POOL_H

#include "kernels/kernels.h"
#include "wire/switchml.h"

struct sml_pool;
struct sml_slot;

enum sml_mode {
    SML_ON_ARRIVAL = 0,   /* add each contribution as it comes: least memory; float sums depend on arrival
                             order */
    SML_WHEN_COMPLETE = 1 /* add in rank order, hold what comes before its turn: bit-for-bit reproducible */
};

struct sml_pool_config {
    uint16_t workers;     /* n, 1..SML_MAX_WORKERS */
    uint16_t slots;       /* s, a power of two, 1..SML_MAX_SLOTS */
    uint16_t chunk_bytes; /* 4 * k, SML_MIN_CHUNK_BYTES..SML_MAX_CHUNK_BYTES */
    uint8_t job;          /* number on the wire */
    enum sml_format format;
    enum sml_mode mode;
    enum sml_checksum checksum;
    uint32_t first_tag; /* the first chunk's tag */
    bool resumed;     /* the job outlived its switch: ranks may hand back (SML_RESTORE) the results they hold
                         of the chunks first_tag .. first_tag + slots - 1 */
    uint8_t tag_bits; /* 0: a tag has 32 bits. Else only the low tag_bits of it count, so that a capture
                         of 2^tag_bits chunks, at least 4 * slots, can be replayed over and over. For
                         measurements only: a packet that is late by half of them or more passes for a
                         new one */
    const struct agg_kernels *kernels;
};

/* Bytes for a pool; 0 if the configuration is out of range. */
size_t sml_pool_footprint(const struct sml_pool_config *cfg);

/* mem: sml_pool_footprint(cfg) bytes, 64-byte aligned, owned by the caller for the pool's life. */
struct sml_pool *sml_pool_init(void *mem, const struct sml_pool_config *cfg);

/* What became of a packet. The first group leads to sending; the second, DROP, does not. Each is counted by
 * name. */
enum sml_verdict_kind {
    /* send */
    SML_SEND_ALL,     /* the chunk is complete: send its result to every rank */
    SML_RESTORED,     /* the same, but the result was handed back by a rank: send it to every rank */
    SML_SEND_ONE,     /* the chunk was complete already: send its result to the sender again */
    SML_SEND_ANSWER,  /* send verdict.answer to the sender (NACK, WAIT; to a probe older than the chunk
                         completed last, a result without a body: who asks holds it already) */
    SML_SEND_QUARREL, /* a mismatch: send verdict.answer to the sender; the sums are untouched */
    /* keep or drop */
    SML_HELD,            /* added; waiting for other ranks */
    SML_DROP_DUPLICATE,  /* this rank has contributed to this chunk already, others have not */
    SML_DROP_STALE,      /* older than the chunk completed last in this slot */
    SML_DROP_AHEAD,      /* a chunk that this rank cannot have reached yet (a restore is under way, or it is
                            broken) */
    SML_DROP_BAD_SLOT,   /* slot out of range (sml_pool_locate), or slot and version do not go with the tag */
    SML_DROP_BAD_LENGTH, /* body longer than the agreed chunk, not whole elements, or a size code that
                            contradicts */
    SML_DROP_BAD_TYPE,   /* type or operation unknown */
    SML_DROP_BAD_CHECKSUM, /* damaged on the way: the agreed checksum is missing or wrong, or there is
                              one though none was agreed */
    SML_DROP_BAD_KIND,     /* a kind that workers do not send, or not in this job: OPEN in the published
                              format, RESTORE in a job that was not resumed */
    SML_VERDICTS
};
const char *sml_verdict_name(enum sml_verdict_kind kind); /* "send_all", "drop_stale", ... for counters */

enum { SML_ANSWER_BYTES = SML_HEADER_BYTES + SML_MISMATCH_BYTES + SML_TRAILER_BYTES };

struct sml_verdict {
    enum sml_verdict_kind kind;
    /* SEND_ALL, RESTORED, SEND_ONE: the result with header and trailer: a UDP payload, in the slot's memory
     * or in a buffer that it keeps. The result of chunk `tag` stays there, unchanged, until the slot takes
     * the first contribution to chunk tag + 2 * slots, which cannot come before the slot has reported chunk
     * tag + slots complete. */
    const uint8_t *result;
    void *result_buffer; /* that it lies in; NULL: in none */
    /* SEND_ALL, RESTORED: the whole result, for ranks that sml_pool_wants tells. SEND_ONE: what this sender
     * is to get, by the SML_FLAG_WANT of the packet that it answers. */
    size_t result_bytes;
    /* SEND_ALL, RESTORED: the same without the sum, for ranks that did not ask for it. It may lie in answer,
     * so the verdict must not be moved. */
    const uint8_t *ack;
    size_t ack_bytes;
    /* SEND_ANSWER, SEND_QUARREL */
    uint8_t answer[SML_ANSWER_BYTES];
    size_t answer_bytes;
    /* Whatever the kind. */
    bool kept;      /* the packet's buffer is the pool's now (sml_pool_apply_buffer) */
    void *released; /* a buffer that was the pool's is the caller's again; NULL: none */
};

/* Stage one: the slot this packet belongs to, checked for range only; NULL: out of range. The adapter
 * prefetches it (sml_slot_prefetch) while it locates the rest of its burst. */
struct sml_slot *sml_pool_locate(struct sml_pool *pool, const struct sml_packet *p);
void sml_slot_prefetch(const struct sml_slot *slot);

/* Stage two: applies rank's packet to its slot. rank < workers is the adapter's to establish; it is not on
 * the wire. The packet's body is read during the call only. */
void sml_pool_apply(struct sml_pool *pool, struct sml_slot *slot, uint16_t rank, const struct sml_packet *p,
                    struct sml_verdict *verdict);

/* The same for a packet whose bytes may be kept instead of copied: the contribution that starts a sum stays
 * where it is, and the others are added to it there. buffer is the adapter's name for that memory, which the
 * pool only stores; NULL: copy. The SML_HEADER_BYTES before p->body, the body and the trailer are written to
 * until the chunk is complete, never after; then they are the result. At most two buffers a slot are kept at
 * any time. Each comes back in `released`, when its result is not needed any more, or from sml_pool_drain. */
void sml_pool_apply_buffer(struct sml_pool *pool, struct sml_slot *slot, uint16_t rank,
                           const struct sml_packet *p, void *buffer, struct sml_verdict *verdict);

/* Gives back all buffers that are still kept; the pool must not be used any more. */
void sml_pool_drain(struct sml_pool *pool, void (*release)(void *buffer));

/* After SEND_ALL or RESTORED: whether rank asked for the sum of the chunk just completed in this slot. Ranks
 * that have not contributed to a restored chunk did not ask: they hold the result, or will get it as the
 * answer to their contribution. */
bool sml_pool_wants(const struct sml_pool *pool, const struct sml_slot *slot, uint16_t rank);
/* The same of all ranks: bit r % 64 of word r / 64. */
const uint64_t *sml_pool_wanted(const struct sml_pool *pool, const struct sml_slot *slot);

uint16_t sml_pool_slots(const struct sml_pool *pool);

/* For telemetry: what a slot is doing. Any thread may ask; when it is not the slot's owner, the fields can be
 * from different moments. */
struct sml_slot_view {
    uint32_t expected;    /* the tag being collected; expected - slots was completed last, if any was */
    uint16_t contributed; /* ranks that have contributed to it; 0: idle */
    uint64_t ranks[SML_MAX_WORKERS / 64]; /* which: word r / 64, bit r % 64 */
};
void sml_pool_view(const struct sml_pool *pool, uint16_t slot, struct sml_slot_view *view); /* slot < slots */

#endif
