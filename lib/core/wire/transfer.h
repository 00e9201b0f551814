/* What the data packets of protocols have in common that carry the tensors of collectives: which call a
 * packet belongs to, what its elements are, and what protects it. Pure and reentrant. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How the elements of a job's packets are to be read, and bytes 8 and 9 of SwitchML's; agreed when the job is
 * joined. A config of zeros means what libswagg does by default. */
enum xfer_format {
    XFER_FORMAT_TYPED, /* elements of the type and operation that the packet names, by a code (kernels.h) */
    XFER_FORMAT_INT32, /* SwitchML's published ones: int32, big endian, with a common exponent */
    XFER_FORMAT_FP16,  /* as INT32, but for the elements: IEEE binary16, little endian, summed in float */
    XFER_FORMATS
};

/* Whether elements have a common exponent. */
static inline bool xfer_has_exponents(enum xfer_format format)
{
    return format != XFER_FORMAT_TYPED;
}

/* "typed", "int32", "fp16": as in terms that are shown, and in the options of tools. By name: XFER_FORMATS if
 * there is none. */
const char *xfer_format_name(enum xfer_format format);
enum xfer_format xfer_format_named(const char *name);

enum xfer_mode {
    XFER_ON_ARRIVAL = 0, /* whoever sums adds each contribution as it comes: least memory; float sums depend
                            on arrival order */
    XFER_ORDERED = 1     /* one place adds in rank order, and holds what comes before its turn: bit-for-bit
                            reproducible */
};

/* Six bits of typed packets that bring elements, the upper ones of a byte. From a worker: how few of the
 * chunks before this one it lacks a result of. In a result: the worst of all ranks. At most slots - 1 can be
 * lacked by whoever may send the chunk, so 0, for that, is always true. */
enum { XFER_HELD_SHIFT = 2, XFER_HELD_STEPS = 64 };

/* lacked: chunks from the oldest whose result is lacked to this one, below slots. */
static inline uint8_t xfer_held_build(uint32_t slots, uint32_t lacked)
{
    return (uint8_t)((slots - 1 - lacked) * XFER_HELD_STEPS / slots << XFER_HELD_SHIFT);
}
/* At most so many are lacked. */
static inline uint32_t xfer_held_parse(uint32_t slots, uint8_t e1)
{
    uint32_t held = ((uint32_t)(e1 >> XFER_HELD_SHIFT) * slots + XFER_HELD_STEPS - 1) / XFER_HELD_STEPS;
    return held < slots ? slots - 1 - held : 0;
}
/* What a result says where its contributions say these. */
static inline uint8_t xfer_held_worst(uint8_t e1, uint8_t other)
{
    uint8_t worst = e1 < other ? e1 : other;
    return (uint8_t)(worst >> XFER_HELD_SHIFT << XFER_HELD_SHIFT);
}

/* What protects a job's packets besides the network's own checksums; agreed when the job is joined. A packet
 * with XFER_CHECKSUM_CRC32C ends with a trailer: the CRC32C, big endian, of its
 * header, its body and two bytes that do not travel: the sender's rank, or XFER_SWITCH, big endian. So it
 * also vouches for the sender, whom only the UDP port tells from the other ranks on its host.
 *
 * A packet with XFER_CHECKSUM_KEYED ends with an authenticator (auth.h), which nobody can
 * make who lacks the job's secret. The switch decides whether a job has it; no rank wishes for it. */
enum xfer_checksum { XFER_CHECKSUM_NONE = 0, XFER_CHECKSUM_CRC32C = 1, XFER_CHECKSUM_KEYED = 2 };
enum { XFER_SWITCH = 0xFFFF }; /* or a server */
enum { XFER_TRAILER_BYTES = 4, XFER_AUTH_BYTES = 8, XFER_TRAILER_MAX = XFER_AUTH_BYTES };

static inline size_t xfer_trailer_bytes(enum xfer_checksum checksum)
{
    if (checksum == XFER_CHECKSUM_NONE)
        return 0;
    return checksum == XFER_CHECKSUM_CRC32C ? XFER_TRAILER_BYTES : XFER_AUTH_BYTES;
}

const char *xfer_checksum_name(enum xfer_checksum checksum); /* "none", "crc32c", "keyed" */
const char *xfer_checksum_mark(enum xfer_checksum checksum); /* behind a packet in words: " CRC32C", or "" */

/* What every rank must agree on for one collective call; the opening packet carries it, big endian on the
 * wire. */
enum xfer_collective {
    XFER_ALLREDUCE = 1,
    XFER_REDUCE = 2,
    XFER_NORMS = 3, /* like XFER_ALLREDUCE: the norms by which the one after it is compressed (thc/codec.h) */
    /* What some ranks bring, others get: as bitwise or of bytes, to which a rank may have nothing to add. */
    XFER_BROADCAST = 4,
    XFER_ALLGATHER = 5,
    XFER_REDUCE_SCATTER = 6, /* like XFER_ALLREDUCE, but each rank gets its own part of the sum */
    XFER_BARRIER = 7,        /* of no elements */
    XFER_GATHER = 8,
    XFER_SCATTER = 9
};

/* "allreduce", "reduce_scatter", ...; "unknown collective" if it is none. */
const char *xfer_collective_name(uint8_t collective);

/* "from rank" or "to rank", if it has a root; else NULL. */
const char *xfer_collective_root(uint8_t collective);

/* Whether this rank is to get the result. */
static inline bool xfer_gives(uint8_t collective, uint32_t root, unsigned rank)
{
    return collective != XFER_REDUCE || root == rank;
}

struct xfer_call {
    uint32_t seq;       /* counts the job's collectives from 0, modulo 2^32 */
    uint8_t collective; /* enum xfer_collective */
    uint8_t type;       /* enum agg_type */
    uint8_t op;         /* enum agg_op */
    uint32_t root;  /* rank that receives a reduce, or as a collective's parts have it (transfer/parts.h); 0
                       for allreduce. If it looks up: see SML_MEANS (switchml/elements.h) */
    uint64_t count; /* elements, less than 2^48 */
    uint16_t
        label; /* what the ranks must agree on besides, if the call is a part of another (local/board.h) */
    /* Not on the wire: whose stream this is sums the share-th of so many; shares 0: all of it. */
    uint8_t share, shares;
};

/* Two ranks have called different things: both sides of the mismatch; "you" is the rank that receives it.
 * opening: at least one side sent an opening packet, so its call is known; the call of a side that did not
 * has collective 0. Otherwise only the tags, the element codes and the lengths tell the sides apart. Big
 * endian on the wire. */
struct xfer_mismatch {
    uint16_t your_rank, peer_rank;
    uint32_t your_tag, peer_tag;
    uint8_t your_e0, peer_e0;
    bool opening;
    uint16_t your_bytes, peer_bytes; /* length of the packets' bodies */
    struct xfer_call yours, peers;
};
enum { XFER_CALL_BYTES = 20, XFER_MISMATCH_BYTES = 20 + 2 * XFER_CALL_BYTES };

void xfer_build_call(uint8_t out[XFER_CALL_BYTES], const struct xfer_call *c);
/* The descriptor at the start of an opening packet's body; false if the body is shorter than one. */
bool xfer_parse_call(struct xfer_call *c, const uint8_t *body, size_t bytes);
bool xfer_call_equal(const struct xfer_call *a, const struct xfer_call *b);

void xfer_build_mismatch(uint8_t out[XFER_MISMATCH_BYTES], const struct xfer_mismatch *m);
bool xfer_parse_mismatch(struct xfer_mismatch *m, const uint8_t *body, size_t bytes);
