/* RoCE v2 packets of unreliable connections (UC) that write to memory: InfiniBand's transport in UDP
 * datagrams to port 4791 (InfiniBand Architecture Specification, volume 1, sections 9.2, 9.3 and 7.8, and
 * annex A17), as far as SwitchML's published RDMA clients use it (docs/protocol.md, "SwitchML by RDMA").
 *
 * A message is a write to the receiver's memory. Its first packet, or the only one, says where (RETH), and
 * the last may bring four bytes beside it (the immediate). Integers are big endian:
 *
 *     BTH        opcode, flags (1 each), partition (2), zero (1), queue pair (3), flags (1), number (PSN, 3)
 *     RETH       address (8), key (4), length of the message (4)         in first and only packets
 *     immediate  (4)                                                     in last and only packets that say so
 *     body
 *     ICRC       (4), little endian
 *
 * The ICRC is the CRC-32 of the packet from its IPv4 header on, with what routers may change as ones, behind
 * eight bytes of ones.
 *
 * Pure and reentrant; parsing is checked over (pointer, length).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum {
    ROCE_PORT = 4791,
    ROCE_BTH_BYTES = 12,
    ROCE_RETH_BYTES = 16,
    ROCE_IMMEDIATE_BYTES = 4,
    ROCE_HEADERS_MAX = ROCE_BTH_BYTES + ROCE_RETH_BYTES + ROCE_IMMEDIATE_BYTES,
    ROCE_ICRC_BYTES = 4,
    ROCE_IP_UDP_BYTES = 20 + 8,          /* IPv4 without options, and UDP */
    ROCE_NUMBERS = 1 << 24,              /* that packets, and queue pairs, can have */
    ROCE_TAIL_MAX = 3 + ROCE_ICRC_BYTES, /* behind a body of any length */
};

/* What a packet is of its message. */
enum roce_opcode {
    ROCE_SEND_FIRST = 0x20, /* to whichever memory the receiver has ready */
    ROCE_SEND_MIDDLE = 0x21,
    ROCE_SEND_LAST = 0x22,
    ROCE_SEND_ONLY = 0x24,
    ROCE_WRITE_FIRST = 0x26,
    ROCE_WRITE_MIDDLE = 0x27,
    ROCE_WRITE_LAST = 0x28,
    ROCE_WRITE_LAST_IMMEDIATE = 0x29,
    ROCE_WRITE_ONLY = 0x2a,
    ROCE_WRITE_ONLY_IMMEDIATE = 0x2b,
};

struct roce_packet {
    uint64_t address;                        /* begins: where in the receiver's memory, ... */
    const uint8_t *body;                     /* refers to the payload */
    uint32_t key;                            /* ... by which of its keys, ... */
    uint32_t length;                         /* ... and how long the message is */
    uint32_t queue_pair;                     /* the receiver's, 24 bits */
    uint32_t number;                         /* 24 bits */
    uint8_t immediate[ROCE_IMMEDIATE_BYTES]; /* as it travels; zeros: there is none */
    uint16_t body_bytes;
    uint8_t opcode; /* enum roce_opcode */
};

static inline bool roce_begins(uint8_t opcode)
{
    return opcode == ROCE_WRITE_FIRST || opcode == ROCE_WRITE_ONLY || opcode == ROCE_WRITE_ONLY_IMMEDIATE;
}

static inline bool roce_sends(uint8_t opcode)
{
    return (opcode >= ROCE_SEND_FIRST && opcode <= ROCE_SEND_LAST) || opcode == ROCE_SEND_ONLY;
}

/* Of packet i of n in a message that is sent. */
static inline enum roce_opcode roce_send_opcode(unsigned i, unsigned n)
{
    return n == 1 ? ROCE_SEND_ONLY : i == 0 ? ROCE_SEND_FIRST : i + 1 < n ? ROCE_SEND_MIDDLE : ROCE_SEND_LAST;
}

static inline bool roce_ends(uint8_t opcode)
{
    return opcode != ROCE_WRITE_FIRST && opcode != ROCE_WRITE_MIDDLE;
}

static inline bool roce_has_immediate(uint8_t opcode)
{
    return opcode == ROCE_WRITE_LAST_IMMEDIATE || opcode == ROCE_WRITE_ONLY_IMMEDIATE;
}

/* By how much number a is ahead of b: -2^23 .. 2^23 - 1. */
static inline int32_t roce_ahead(uint32_t a, uint32_t b)
{
    return (int32_t)((a - b) << 8) >> 8;
}

/* Why a payload is no such packet. */
enum roce_parse_error {
    ROCE_OK = 0,
    ROCE_TOO_SHORT,  /* no room for what its opcode says, and an ICRC */
    ROCE_NO_WRITE,   /* another operation, or transport */
    ROCE_BAD_SEND,   /* a send that is no payload that is carried (below), or damaged */
    ROCE_BAD_HEADER, /* another version, bytes of padding, or not the default partition */
};

/* Of the ICRC, only that there is room for it. *p is unspecified on error. */
enum roce_parse_error roce_parse(struct roce_packet *p, const uint8_t *payload, size_t bytes);

/* How long the headers of such packets are. */
size_t roce_header_bytes(uint8_t opcode);

/* Writes them; returns how long they are. The body and the ICRC are the caller's to append. */
size_t roce_build_headers(uint8_t out[ROCE_HEADERS_MAX], const struct roce_packet *p);

/* The CRC that goes into an ICRC, of headers that begin with IPv4's: ROCE_IP_UDP_BYTES + ROCE_BTH_BYTES at
 * least, and ROCE_HEADERS_MAX in the place of the latter at most. */
uint32_t roce_crc_of_headers(const uint8_t *ip, size_t bytes);

/* The ICRC as it travels. */
void roce_put_icrc(uint8_t out[ROCE_ICRC_BYTES], uint32_t crc);

/* Writes the ICRC at the end of a whole payload, behind ROCE_IP_UDP_BYTES of headers from ip on. */
void roce_seal(const uint8_t *ip, uint8_t *payload, size_t bytes);

/* Whether the ICRC at the end of a payload, which ROCE_IP_UDP_BYTES of headers from ip on belong to, is
 * right. The payload was parsed. */
bool roce_icrc_holds(const uint8_t *ip, const uint8_t *payload, size_t bytes);

/* Datagrams that a NIC carries: ranks of libswagg's send what else would be the payload of a UDP datagram as
 * the body of a packet of a send, and are sent the switch's so (docs/protocol.md, "By RoCE"). A NIC cuts what
 * it sends at its path's MTU. So a message of several packets has one datagram in each, and behind it, but
 * for the last, what fills the MTU up: the switch reads each by itself, and a lost one voids no other. What
 * it sends itself are messages of one. The switch's queue pair for a rank has this number, and below it the
 * UDP port that the rank would send from. */
enum {
    ROCE_CARRIES = 0x400000,
    ROCE_FILL_MAX = 64, /* bytes that are worth filling up */
};

/* Between a datagram and the next one of its message, 1 to ROCE_FILL_MAX bytes: the last says how many. */
static inline void roce_fill(uint8_t *at, size_t bytes)
{
    memset(at, 0, bytes);
    at[bytes - 1] = (uint8_t)bytes;
}

/* A payload with such a send, which ROCE_IP_UDP_BYTES of headers from ip on belong to: whether it is whole,
 * its ICRC included. *port: the sender's, host order. The body is behind ROCE_BTH_BYTES. */
bool roce_uncover(const uint8_t *ip, const uint8_t *payload, size_t bytes, uint16_t *port,
                  size_t *body_bytes);

/* How many bytes are behind a body: zeros that fill it up, and the ICRC. */
static inline size_t roce_tail_bytes(size_t body_bytes)
{
    return (4 - body_bytes % 4) % 4 + ROCE_ICRC_BYTES;
}

/* Around a body that lies behind ROCE_BTH_BYTES of payload: writes the BTH and the tail, for which there is
 * room. The headers from ip on are as they will be sent. What is not the end of its message was filled up, to
 * a multiple of 4. */
void roce_cover(const uint8_t *ip, uint8_t *payload, size_t body_bytes, enum roce_opcode opcode,
                uint32_t queue_pair, uint32_t number);
