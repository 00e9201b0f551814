/* The authenticator of a keyed job's data packets: eight bytes by which the receiver knows that the sender
 * has the job's secret, that the packet is as it was sent, by whom, to whom, and for which chunk of this life
 * of the job (docs/protocol.md, "Keyed packets"). Pure and reentrant.
 *
 * It is SipHash of the header, of what does not travel, and of a sum of the body that differs from that of
 * any other body of its length, but with a probability of 2^-64: NH on words of 64 bits ("UMAC: Fast and
 * Secure Message Authentication", Black et al., CRYPTO '99, section 4.2).
 */
#pragma once

#include "keys/keys.h"
#include "wire/transfer.h"

/* What is made of a job's secret, once in each of its lives. Never changes; any thread may use it. */
struct xfer_auth;

/* Bytes for the keys of chunks up to this length, and of whatever else a packet carries. */
size_t xfer_auth_footprint(size_t chunk_bytes);
/* mem: xfer_auth_footprint(chunk_bytes), 8-byte aligned, the caller's. shared is read during the call only.
 */
struct xfer_auth *xfer_auth_init(void *mem, const struct keys_secret *shared, size_t chunk_bytes);

/* What an authenticator vouches for and does not travel. */
struct xfer_route {
    uint16_t sender;   /* a rank, or XFER_SWITCH */
    uint16_t receiver; /* the rank that is answered; XFER_SWITCH: the switch, or all ranks */
    uint32_t wraps;    /* how often tags have wrapped in this life before this chunk: the upper half of its
                          running number, of which the tag is the lower. The first chunk's number is its tag */
};

/* The authenticator of a packet in two pieces. head: the header, and the call of a packet that has one, at
 * most XFER_AUTH_HEAD_MAX bytes; body: what follows. */
enum { XFER_AUTH_HEAD_MAX = 64 }; /* of other protocols' packets, too */
void xfer_auth_build(uint8_t out[XFER_AUTH_BYTES], const struct xfer_auth *auth,
                     const struct xfer_route *route, const uint8_t *head, size_t head_bytes,
                     const uint8_t *body, size_t body_bytes);

/* Whether this is what xfer_auth_build would make. False, too, if the body is longer than the keys. */
bool xfer_auth_matches(const uint8_t in[XFER_AUTH_BYTES], const struct xfer_auth *auth,
                       const struct xfer_route *route, const uint8_t *head, size_t head_bytes,
                       const uint8_t *body, size_t body_bytes);
