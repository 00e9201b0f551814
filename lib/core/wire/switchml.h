/* SwitchML packets: what lies in the UDP payload on the ports 0xBEE0..0xBEEF (docs/protocol.md, "Data
 * packets").
 *
 * The first ten bytes are the published SwitchML header. Kind 1 is the published packet; the other kinds are
 * ours and share the header. Parsing is checked over (pointer, length) and keeps pointers into the caller's
 * buffer; nothing is copied. All functions are pure and reentrant.
 */
#pragma once

#include "protocol/jobs.h"
#include "wire/auth.h"

enum {
    SML_PORT_FIRST = 0xBEE0, /* the switch's UDP ports, first and last */
    SML_PORT_LAST = 0xBEEF,
    SML_HEADER_BYTES = 10,
    SML_MAX_SLOTS = 16384, /* 14 bits of pool index */
    SML_MIN_CHUNK_BYTES = 64,
    SML_MAX_CHUNK_BYTES = 8960 /* k = 2240 elements of 4 bytes, for MTU 9000 */
};

/* High nibble of byte 0. W: worker to switch, S: switch to worker. A switch below another is a worker of it.
 */
enum sml_kind {
    SML_DATA = 1,  /* W: a contribution. S: the sum, or no elements at all where the worker asked for none */
    SML_OPEN = 2,  /* like SML_DATA, for the first chunk of a collective: a struct xfer_call precedes the
                      elements */
    SML_PROBE = 3, /* W: "where is my result?"; no body */
    SML_NACK = 4,  /* S: answer to a probe: your contribution to this chunk has not come, send it again;
                      no body */
    SML_WAIT = 5,  /* S: answer to a probe: waiting for others; body = map of the ranks that have contributed
                      (protocol/ranks.h) */
    SML_MISMATCH = 6, /* S: you and a peer called different things; body = struct xfer_mismatch */
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

enum {
    SML_FLAG_WANT = 0x01,    /* the sender wants the sum; without it, it only wants to know that the chunk
                                is complete. In DATA, OPEN and, for the answer to it, in PROBE */
    SML_FLAG_IN = 0x01,      /* SML_LATE: the chunk's result has the receiver's contribution in it */
    SML_FLAG_OPENING = 0x02, /* SML_RESTORE only: the chunk is a collective's first, the body starts with
                                its struct xfer_call */
    SML_FLAG_SUMS = 0x02,    /* DATA and OPEN from a switch below, of a call that looks up
                                (switchml/elements.h): the elements are sums already */
};

/* One packet, parsed or to be built. body points into the packet's buffer (parse) or at the caller's bytes
 * (build). */
struct sml_packet {
    uint8_t kind;      /* enum sml_kind */
    uint8_t size_code; /* enum sml_size */
    /* enum xfer_checksum; parsed, but not yet compared: sml_checksum_holds, sml_auth_holds */
    uint8_t checksum;
    uint8_t job; /* job number on the wire */
    uint8_t ver; /* 0 or 1: which of the slot's two versions */
    uint16_t slot;
    uint32_t tag;   /* tsi: the job's running chunk number, modulo 2^32; little endian on the wire, as the
                       published client writes it */
    uint8_t e0, e1; /* bytes 8 and 9, typed: the code of operation and type (kernels.h), and SML_FLAG_*; of
 formats with exponents these, of which the switch returns the maxima */
    const uint8_t *body; /* everything between the ten header bytes and the trailer */
    size_t body_bytes;
};

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

/* The CRC32C of a packet in two pieces; sender: a rank, or XFER_SWITCH. */
void sml_build_trailer(uint8_t out[XFER_TRAILER_BYTES], uint16_t sender, const void *head, size_t head_bytes,
                       const void *body, size_t body_bytes);

/* Whether the CRC32C of a parsed packet that has one, still in its buffer, is right. */
bool sml_crc32c_holds(const struct sml_packet *p, uint16_t sender);

/* Whether a parsed packet has the checksum that its job has agreed on, and whether that is right. Not for
 * keyed jobs. */
static inline bool sml_checksum_holds(const struct sml_packet *p, enum xfer_checksum agreed, uint16_t sender)
{
    return p->checksum == agreed && (agreed == XFER_CHECKSUM_NONE || sml_crc32c_holds(p, sender));
}

/* Whether a parsed packet, still in its buffer, is keyed and has the right one. call_bytes: at the begin of
 * its body, at most XFER_CALL_BYTES. False, too, if the body is longer than the keys. */
bool sml_auth_holds(const struct xfer_auth *auth, const struct xfer_route *route, const struct sml_packet *p,
                    size_t call_bytes);

/* Whom a packet of this kind is for, which a switch sends because of one of this rank. */
static inline uint16_t sml_receiver(uint8_t kind, uint16_t rank)
{
    return kind == SML_NACK || kind == SML_WAIT || kind == SML_MISMATCH || kind == SML_LATE ? rank
                                                                                            : XFER_SWITCH;
}

/* The answer to a packet of a job or sender that this switch does not know: a UDP payload, never keyed, since
 * the switch has no key of that job. Returns its length; 0 if only a switch sends such packets: two switches
 * would answer one another for ever. */
enum { SML_REJECT_BYTES = SML_HEADER_BYTES + 8 + XFER_TRAILER_BYTES };
size_t sml_build_reject(uint8_t out[SML_REJECT_BYTES], const struct sml_packet *p, uint64_t boot_id);

/* The slot's number in a payload of at least SML_HEADER_BYTES: enough to steer a packet before it is parsed.
 */
static inline uint16_t sml_peek_slot(const uint8_t *payload)
{
    return (uint16_t)((payload[6] << 8 | payload[7]) & (SML_MAX_SLOTS - 1));
}

/* Slot and version of a chunk: both follow from the tag, slots is a power of two. */
static inline uint16_t sml_tag_slot(uint32_t tag, uint32_t slots)
{
    return (uint16_t)(tag & (slots - 1));
}
static inline uint8_t sml_tag_ver(uint32_t tag, uint32_t slots)
{
    return (tag & slots) != 0;
}
