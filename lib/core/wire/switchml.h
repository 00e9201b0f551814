/* SwitchML packets: what lies in the UDP payload on the ports 0xBEE0..0xBEEF (docs/protocol.md, "Data
 * packets").
 *
 * The first ten bytes are the published SwitchML header. Kind 1 is the published packet; the other kinds are
 * ours and share the header. Parsing is checked over (pointer, length) and keeps pointers into the caller's
 * buffer; nothing is copied. All functions are pure and reentrant.
 */
#ifndef SWAGG_CORE_WIRE_SWITCHML_H
#define SWAGG_CORE_WIRE_SWITCHML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    SML_PORT_FIRST = 0xBEE0, /* the switch's UDP ports, first and last */
    SML_PORT_LAST = 0xBEEF,
    SML_HEADER_BYTES = 10,
    SML_TRAILER_BYTES = 4, /* of a packet with a checksum */
    SML_AUTH_BYTES = 8,    /* of the trailer of a keyed packet (auth.h) */
    SML_TRAILER_MAX = SML_AUTH_BYTES,
    SML_CALL_BYTES = 20,    /* a descriptor in front of the elements of an opening packet */
    SML_MAX_WORKERS = 1024, /* that send to one switch: ranks, and switches below it */
    SML_MAX_RANKS = 4096,   /* in a job whose ranks are at several switches */
    SML_MAX_SLOTS = 16384,  /* 14 bits of pool index */
    SML_MIN_CHUNK_BYTES = 64,
    SML_MAX_CHUNK_BYTES = 8960 /* k = 2240 elements of 4 bytes, for MTU 9000 */
};

/* High nibble of byte 0. W: worker to switch, S: switch to worker. A switch below another is a worker of it.
 */
enum sml_kind {
    SML_DATA = 1,  /* W: a contribution. S: the sum, or no elements at all where the worker asked for none */
    SML_OPEN = 2,  /* like SML_DATA, for the first chunk of a collective: a struct sml_call precedes the
                      elements */
    SML_PROBE = 3, /* W: "where is my result?"; no body */
    SML_NACK = 4,  /* S: answer to a probe: your contribution to this chunk has not come, send it again;
                      no body */
    SML_WAIT = 5,  /* S: answer to a probe: waiting for others; body = map of the ranks that have contributed
                      (protocol/ranks.h) */
    SML_MISMATCH = 6, /* S: you and a peer called different things; body = struct sml_mismatch */
    SML_REJECT = 7,   /* S: no such job, or you are not in it (any more); body = boot id (8 bytes, big
                         endian) */
    SML_RESTORE = 8,  /* W: the finished sum of a chunk, handed to a switch that has restarted */
    SML_ASK = 11,     /* from a switch to the one above: like SML_PROBE; body = map of the ranks below it that
                         have contributed, as in SML_WAIT. (9 and 10 are path probes: wire/path.h) */
    SML_LATE = 12, /* S: the chunk's result is gone, it was closed without you long ago; body = the tag that
                      its slot collects now (4 bytes, big endian). Only in jobs with a quorum */
};
enum { SML_LATE_BYTES = 4 };

/* Low three bits of byte 0: elements of 4 bytes a packet carries. 5 on the wire is SML_SIZE_AGREED in a keyed
 * packet. */
enum sml_size { SML_SIZE_32 = 0, SML_SIZE_64 = 1, SML_SIZE_128 = 2, SML_SIZE_256 = 3, SML_SIZE_AGREED = 4 };

/* Bytes of elements that a size code 0..3 stands for. */
static inline size_t sml_size_bytes(uint8_t size_code)
{
    return (size_t)128 << size_code;
}

/* The code that stands for so many bytes; SML_SIZE_AGREED: none of 0..3 does. */
static inline uint8_t sml_size_code(size_t bytes)
{
    uint8_t code = SML_SIZE_32;

    while (code < SML_SIZE_AGREED && sml_size_bytes(code) != bytes)
        code++;
    return code;
}

/* How bytes 8 and 9 and the elements of a job's packets are to be read; agreed when the job is joined. These
 * are not the codes on the wire (switchml/terms.h): a config of zeros means what libswagg does by default. */
enum sml_format {
    SML_FORMAT_TYPED, /* ours: byte 8 = op << 4 | type (kernels.h), byte 9 = SML_FLAG_*; elements as that
                         type travels */
    SML_FORMAT_INT32, /* published: two int8 exponents, elements int32 big endian; the switch returns the
                         maxima */
    SML_FORMAT_FP16,  /* as INT32, but for the elements: IEEE binary16, little endian, summed in float */
    SML_FORMATS
};

/* Whether bytes 8 and 9 are exponents; then there are no calls, and every rank gets the sum. */
static inline bool sml_has_exponents(enum sml_format format)
{
    return format != SML_FORMAT_TYPED;
}

enum {
    SML_FLAG_WANT = 0x01,    /* the sender wants the sum; without it, it only wants to know that the chunk
                                is complete. In DATA, OPEN and, for the answer to it, in PROBE */
    SML_FLAG_IN = 0x01,      /* SML_LATE: the chunk's result has the receiver's contribution in it */
    SML_FLAG_OPENING = 0x02, /* SML_RESTORE only: the chunk is a collective's first, the body starts with
                                its struct sml_call */
    SML_FLAG_SUMS = 0x02,    /* DATA and OPEN from a switch below, of a call that looks up
                                (switchml/elements.h): the elements are sums already */
};

/* The upper six bits of byte 9, in a typed job's DATA and OPEN. From a worker: how few of the chunks before
 * this one it lacks a result of. In a result: the worst of all ranks. At most slots - 1 can be lacked by
 * whoever may send the chunk, so 0, for that, is always true. */
enum { SML_HELD_SHIFT = 2, SML_HELD_STEPS = 64 };

/* lacked: chunks from the oldest whose result is lacked to this one, below slots. */
static inline uint8_t sml_held_build(uint32_t slots, uint32_t lacked)
{
    return (uint8_t)((slots - 1 - lacked) * SML_HELD_STEPS / slots << SML_HELD_SHIFT);
}
/* At most so many are lacked. */
static inline uint32_t sml_held_parse(uint32_t slots, uint8_t e1)
{
    uint32_t held = ((uint32_t)(e1 >> SML_HELD_SHIFT) * slots + SML_HELD_STEPS - 1) / SML_HELD_STEPS;
    return held < slots ? slots - 1 - held : 0;
}
/* What a result says where its contributions say these. */
static inline uint8_t sml_held_worst(uint8_t e1, uint8_t other)
{
    uint8_t worst = e1 < other ? e1 : other;
    return (uint8_t)(worst >> SML_HELD_SHIFT << SML_HELD_SHIFT);
}

/* What protects a job's packets besides the network's own checksums; agreed when the job is joined. A packet
 * with SML_CHECKSUM_CRC32C says so in bit 3 of byte 0 and ends with a trailer: the CRC32C, big endian, of its
 * header, its body and two bytes that do not travel: the sender's rank, or SML_SWITCH, big endian. So it also
 * vouches for the sender, whom only the UDP port tells from the other ranks on its host.
 *
 * A packet with SML_CHECKSUM_KEYED has size code 5 and ends with an authenticator (auth.h), which nobody can
 * make who lacks the job's secret. The switch decides whether a job has it; no rank wishes for it. */
enum sml_checksum { SML_CHECKSUM_NONE = 0, SML_CHECKSUM_CRC32C = 1, SML_CHECKSUM_KEYED = 2 };
enum { SML_SWITCH = 0xFFFF };

static inline size_t sml_trailer_bytes(enum sml_checksum checksum)
{
    if (checksum == SML_CHECKSUM_NONE)
        return 0;
    return checksum == SML_CHECKSUM_CRC32C ? SML_TRAILER_BYTES : SML_AUTH_BYTES;
}

/* One packet, parsed or to be built. body points into the packet's buffer (parse) or at the caller's bytes
 * (build). */
struct sml_packet {
    uint8_t kind;      /* enum sml_kind */
    uint8_t size_code; /* enum sml_size */
    /* enum sml_checksum; parsed, but not yet compared: sml_checksum_holds, sml_auth_holds */
    uint8_t checksum;
    uint8_t job; /* job number on the wire */
    uint8_t ver; /* 0 or 1: which of the slot's two versions */
    uint16_t slot;
    uint32_t tag;   /* tsi: the job's running chunk number, modulo 2^32; little endian on the wire, as the
                       published client writes it */
    uint8_t e0, e1; /* bytes 8 and 9, meaning as enum sml_format says */
    const uint8_t *body; /* everything between the ten header bytes and the trailer */
    size_t body_bytes;
};

/* What every rank must agree on for one collective call; the opening packet carries it, big endian on the
 * wire. */
enum sml_collective {
    SML_ALLREDUCE = 1,
    SML_REDUCE = 2,
    SML_NORMS = 3 /* like SML_ALLREDUCE: the norms by which the one after it is compressed (thc/codec.h) */
};

/* Whether this rank is to get the result. */
static inline bool sml_gives(uint8_t collective, uint32_t root, unsigned rank)
{
    return collective != SML_REDUCE || root == rank;
}

struct sml_call {
    uint32_t seq;       /* counts the job's collectives from 0, modulo 2^32 */
    uint8_t collective; /* enum sml_collective */
    uint8_t type;       /* enum agg_type */
    uint8_t op;         /* enum agg_op */
    uint32_t root;      /* rank that receives a reduce; 0 for allreduce. If it looks up: see SML_MEANS */
    uint64_t count;     /* elements */
};

/* Body of SML_MISMATCH: both sides of the mismatch; "you" is the rank that receives it. opening: at least one
 * side sent an opening packet, so its call is known; the call of a side that did not has collective 0.
 * Otherwise only the tags, the element codes and the lengths tell the sides apart. Big endian on the wire. */
struct sml_mismatch {
    uint16_t your_rank, peer_rank;
    uint32_t your_tag, peer_tag;
    uint8_t your_e0, peer_e0;
    bool opening;
    uint16_t your_bytes, peer_bytes; /* length of the packets' bodies */
    struct sml_call yours, peers;
};
enum { SML_MISMATCH_BYTES = 20 + 2 * SML_CALL_BYTES };

/* Why a payload is no SwitchML packet; each is a named drop counter of the daemon. */
enum sml_parse_error {
    SML_OK = 0,
    SML_TOO_SHORT,     /* fewer than ten bytes, or no room for a trailer that is announced */
    SML_BAD_KIND,      /* high nibble is none of enum sml_kind */
    SML_BAD_SIZE_CODE, /* a size code of 6 or 7, or 5 with a CRC32C; in OPEN and RESTORE, which are ours,
                          anything but 4 and 5 */
    SML_BAD_SLOT,      /* bit 14 of the pool index set */
    SML_BAD_LENGTH,    /* the body's length contradicts the kind or the size code */
};

/* Parses a UDP payload. Size codes 0..3 demand exactly that many elements in a DATA packet, or none
 * (exponents only, or a result that was not wanted); with code 4 the caller compares the length with the
 * chunk size of the job. An OPEN has a call and maybe elements, or nothing at all (a result that was not
 * wanted). *p is unspecified on error. */
enum sml_parse_error sml_parse(struct sml_packet *p, const uint8_t *payload, size_t bytes);

/* Writes the ten header bytes of p. The body is the caller's to append, and a trailer if p says that there is
 * one. */
void sml_build_header(uint8_t out[SML_HEADER_BYTES], const struct sml_packet *p);

/* The CRC32C of a packet in two pieces; sender: a rank, or SML_SWITCH. */
void sml_build_trailer(uint8_t out[SML_TRAILER_BYTES], uint16_t sender, const void *head, size_t head_bytes,
                       const void *body, size_t body_bytes);

/* Whether the CRC32C of a parsed packet that has one, still in its buffer, is right. */
bool sml_crc32c_holds(const struct sml_packet *p, uint16_t sender);

/* Whether a parsed packet has the checksum that its job has agreed on, and whether that is right. Not for
 * keyed jobs. */
static inline bool sml_checksum_holds(const struct sml_packet *p, enum sml_checksum agreed, uint16_t sender)
{
    return p->checksum == agreed && (agreed == SML_CHECKSUM_NONE || sml_crc32c_holds(p, sender));
}

/* The answer to a packet of a job or sender that this switch does not know: a UDP payload, never keyed, since
 * the switch has no key of that job. Returns its length; 0 if only a switch sends such packets: two switches
 * would answer one another for ever. */
enum { SML_REJECT_BYTES = SML_HEADER_BYTES + 8 + SML_TRAILER_BYTES };
size_t sml_build_reject(uint8_t out[SML_REJECT_BYTES], const struct sml_packet *p, uint64_t boot_id);

/* The slot's number in a payload of at least SML_HEADER_BYTES: enough to steer a packet before it is parsed.
 */
static inline uint16_t sml_peek_slot(const uint8_t *payload)
{
    return (uint16_t)((payload[6] << 8 | payload[7]) & (SML_MAX_SLOTS - 1));
}

void sml_build_call(uint8_t out[SML_CALL_BYTES], const struct sml_call *c);
/* The descriptor at the start of an opening packet's body; false if the body is shorter than one. */
bool sml_parse_call(struct sml_call *c, const uint8_t *body, size_t bytes);
bool sml_call_equal(const struct sml_call *a, const struct sml_call *b);

void sml_build_mismatch(uint8_t out[SML_MISMATCH_BYTES], const struct sml_mismatch *m);
bool sml_parse_mismatch(struct sml_mismatch *m, const uint8_t *body, size_t bytes);

/* Slot and version of a chunk: both follow from the tag, slots is a power of two. */
static inline uint16_t sml_tag_slot(uint32_t tag, uint32_t slots)
{
    return (uint16_t)(tag & (slots - 1));
}
static inline uint8_t sml_tag_ver(uint32_t tag, uint32_t slots)
{
    return (tag & slots) != 0;
}

#endif
