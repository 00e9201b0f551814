/* ATP packets: what lies in the UDP payload between workers and a parameter server, whose port is one of
 * 0xBEC0..0xBECF ("ATP: In-network Aggregation Protocol for Multi-tenant Learning", section 5.2 and figure 2;
 * docs/protocol.md, "ATP"). A switch on the way sums gradients (atp/table.h). The paper names the fields;
 * their layout is ours, and so are life, root, code, exponent, priority and the second bitmap.
 *
 * All integers are big endian. After the header come the elements, in the byte order of the wire
 * (kernels/kernels.h); in front of them, where the flag OPENING is set, a struct xfer_call
 * (wire/transfer.h). Behind them, where the header says so, comes a trailer (atp_seal_build).
 *
 * Pure and reentrant.
 */
#pragma once

#include "protocol/jobs.h"
#include "wire/auth.h"
#include "wire/transfer.h"

enum {
    ATP_PORT_FIRST = 0xBEC0, /* a parameter server's UDP ports, first and last */
    ATP_PORT_LAST = 0xBECF,
    ATP_GROUP_PORT = 0xBED0, /* workers' UDP port for what comes by their job's IPv4 group */
    ATP_HEADER_BYTES = 40,
    ATP_LEVEL = 64, /* children that one level can have: bits of a bitmap */
    ATP_MIN_CHUNK_BYTES = 64,
    ATP_MAX_CHUNK_BYTES = 8920, /* of elements and descriptor, for MTU 9000 */
    ATP_ALL = 0xFFFF,           /* as root: every rank wants the result */
    ATP_INDEX_AT = 12,          /* where two fields lie by which packets are dealt to shards */
    ATP_SEQUENCE_LOW_AT = 10,
};

enum atp_kind {
    ATP_GRADIENT = 1,  /* to the server: the sum of the ranks that the bitmaps name */
    ATP_PARAMETER = 2, /* from the server: the sum of all ranks, and the acknowledgement of this sequence; no
                          elements where the rank wants none */
    ATP_WAITING = 3,   /* from the server, an answer: the sum is not complete. Body: a bit for each rank whose
                          contribution is there, bit r % 8 of byte r / 8. Who is not among them is to send
                          again, with DIRECT */
    ATP_MISMATCH = 4,  /* from the server: you and a peer called different things; struct xfer_mismatch */
    ATP_REJECT = 5,    /* from the server: it has no such job, or you are not in it. Body: boot id (8) */
    ATP_GROUP = 6,     /* to the server: whether its sender hears the job's group (HEARS); from the server, by
                          the group: so that who does not may find out that he does. No body */
    ATP_RESTORE = 7,   /* to the server: the sum of all ranks, which it has lost */
    ATP_ASK = 8, /* to the server: what of this chunk is there? A switch that has some of it sends that on
                    instead. Fields as in GRADIENT, the bitmaps of the sender alone; no body */
    ATP_KINDS
};

enum {
    ATP_RESEND = 0x01,    /* sent once more, or met an aggregator of another: no switch keeps it */
    ATP_COLLISION = 0x02, /* met an aggregator of another */
    ATP_ECN = 0x04,       /* met a congested queue; in a PARAMETER: some contribution did */
    ATP_EDGE = 0x08,      /* for the switch next to the server; else for the one next to the workers */
    ATP_OPENING = 0x20,   /* the first chunk of a collective */
    ATP_SCALED = 0x40,    /* the elements, int32 or binary16, have a common exponent */
    ATP_DIRECT = 0x80,    /* no switch is to add it to others */
    /* Where these lie, other kinds have others: */
    ATP_HEARS = 0x01,    /* GROUP, to the server: its sender has had a packet by the group */
    ATP_BY_GROUP = 0x10, /* PARAMETER, GROUP from the server: it came by the group (atp_note_group). In
                            GRADIENT and ASK nothing: sums of blocks with a common exponent fit, so no switch
                            has the paper's OVERFLOW to tell of */
};

/* A parsed header, or one to be built. */
struct atp_packet {
    uint64_t bitmap0;  /* ranks of rack `rack`, by their place in it */
    uint64_t bitmap1;  /* children of the switch next to the server, whole ones; the ranks of both bitmaps are
                          disjoint */
    uint32_t life;     /* of the job: random, the same for all its packets */
    uint32_t sequence; /* which chunk, in the job's whole life; serial numbers (RFC 1982) */
    uint16_t job;      /* number on the wire */
    uint16_t index;    /* of the aggregator, modulo what the switch has */
    union {
        uint16_t root; /* GRADIENT, RESTORE, ASK: who wants the result, a rank or ATP_ALL */
        uint16_t next; /* PARAMETER: the index of the chunk that is a window later */
    };
    uint8_t kind; /* enum atp_kind */
    uint8_t flags;
    uint8_t code;     /* of operation and type (kernels.h) */
    int8_t exponent;  /* SCALED only: the largest of those that contributed */
    uint8_t fan_in0;  /* ranks of this rack, 1..64 */
    uint8_t fan_in1;  /* children of the switch next to the server, 0..64; at most 1: it has nothing to add */
    uint8_t rack;     /* 0..63 */
    uint8_t child;    /* bit that this rack, or this worker, has in bitmap1 */
    uint8_t priority; /* of the job; the higher one may take an aggregator, where a switch allows it */
    uint8_t
        seal : 2; /* enum xfer_checksum: what kind of trailer it ends with; parsed, but not yet compared */
    /* GRADIENT, PARAMETER: as the upper six bits of byte 9 of SwitchML's (xfer_held_build) */
    uint8_t held : 6;
};

/* Why a payload is no ATP packet; each is a named drop. */
enum atp_parse_error {
    ATP_OK = 0,
    ATP_TOO_SHORT,
    ATP_BAD_KIND,
    ATP_BAD_FIELD,  /* a field is out of its range, or contradicts another */
    ATP_BAD_LENGTH, /* the body's length contradicts kind, code or flags */
};

/* The body begins ATP_HEADER_BYTES after the payload. *p is unspecified on error. */
enum atp_parse_error atp_parse(struct atp_packet *p, const uint8_t *payload, size_t bytes);

/* How long the body of a parsed packet of so many bytes is. */
static inline size_t atp_body_bytes(const struct atp_packet *p, size_t bytes)
{
    return bytes - ATP_HEADER_BYTES - xfer_trailer_bytes((enum xfer_checksum)p->seal);
}

/* Writes the header, ATP_HEADER_BYTES. */
void atp_build_header(uint8_t *payload, const struct atp_packet *p);

/* For whoever has received the packet with IP's congestion mark (CE), or marks it so: tells those who only
 * see the payload. Other packets stay as they are. */
void atp_mark(uint8_t *payload, size_t bytes);

/* For whoever has received the packet at the group's address: tells those who only see the payload. No packet
 * travels with this flag. */
void atp_note_group(uint8_t *payload, size_t bytes);

/* A payload of ATP at all: of a known kind, long enough. For whoever has not looked closer. */
static inline uint8_t atp_peek_kind(const uint8_t *payload, size_t bytes)
{
    return bytes >= ATP_HEADER_BYTES && payload[0] < ATP_KINDS ? payload[0] : 0;
}

/* What packets may end with: a CRC32C (4 bytes) or, in keyed jobs, an authenticator (8 bytes, wire/auth.h);
 * both big endian, of the header, of the body, and of who sends it to whom (docs/protocol.md, "ATP").
 *
 * Switches on the way set some flags of packets that pass. These flags are left out, as if they were 0: so a
 * packet that passes keeps the trailer of whoever has sent it. A sum is a switch's own, with a new CRC32C; a
 * switch knows no keys, so it adds nothing of keyed jobs. */

/* The trailer of a packet in two pieces, whose header says which kind it has (none: nothing is written).
 * head: the header, with the call of an opening packet; body: what follows, as it travels. auth and route are
 * those of keyed packets only. */
void atp_seal_build(uint8_t trailer[XFER_TRAILER_MAX], const struct xfer_auth *auth,
                    const struct xfer_route *route, const uint8_t *head, size_t head_bytes,
                    const uint8_t *body, size_t body_bytes);

/* Appends it to a payload of so many bytes, which has room for it; returns the length of both. */
size_t atp_seal_append(uint8_t *payload, size_t bytes, const struct xfer_auth *auth,
                       const struct xfer_route *route);

/* Whether a parsed packet ends with what its header says. */
bool atp_seal_holds(const struct atp_packet *p, const uint8_t *payload, size_t bytes,
                    const struct xfer_auth *auth, const struct xfer_route *route);

/* The answer to a packet of a job or sender that the server does not know: a payload, with a CRC32C if the
 * packet has one. Returns its length; 0 if only a server sends such packets. */
enum { ATP_BOOT_ID_BYTES = 8, ATP_REJECT_BYTES = ATP_HEADER_BYTES + ATP_BOOT_ID_BYTES + XFER_TRAILER_BYTES };
size_t atp_build_reject(uint8_t out[ATP_REJECT_BYTES], const struct atp_packet *p, uint64_t boot_id);
