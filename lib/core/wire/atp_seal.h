/* What ATP packets may end with: a CRC32C (4 bytes) or, in keyed jobs, an authenticator (8 bytes,
 * wire/auth.h); both big endian, of the header, of the body, and of who sends it to whom (docs/protocol.md,
 * "ATP").
 *
 * Switches on the way set some flags of packets that pass. These flags are left out, as if they were 0: so a
 * packet that passes keeps the trailer of whoever has sent it. A sum is a switch's own, with a new CRC32C; a
 * switch knows no keys, so it adds nothing of keyed jobs.
 *
 * Pure and reentrant.
 */
#ifndef SWAGG_CORE_WIRE_ATP_SEAL_H
#define SWAGG_CORE_WIRE_ATP_SEAL_H

#include "wire/atp.h"
#include "wire/auth.h"

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

#endif
