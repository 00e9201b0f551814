/* Frames addressed to the switch itself, checked on arrival: faults under the names that operators see.
 * Checksums are made with the kernels that were chosen at start. Layouts and building: net/udp_frame.h.
 */
#ifndef SWAGG_BASE_FRAME_H
#define SWAGG_BASE_FRAME_H

#include "base/counters.h"
#include "net/check.h"
#include "net/udp_frame.h"

enum {
    FRAME_PORT_BYTES = sizeof(struct net_ethernet) + sizeof(struct net_tag)
}; /* a frame may be longer than the MTU by */

/* Whose ones_sum all checksums of payload here are made with; the scalar one until it is called. Once, at the
 * start, before there are other threads. */
void frame_use_kernels(const struct agg_kernels *k);

/* The one's complement sum of the bytes, taken as 16-bit words in network order, the last padded (RFC 1071).
 */
uint16_t frame_sum(const void *bytes, size_t n);

static inline struct frame_payload frame_payload(const void *at, size_t bytes)
{
    return (struct frame_payload){.at = at, .bytes = bytes, .sum = frame_sum(at, bytes)};
}

/* What is wrong with a frame whose Ethernet header is whole and says IPv4; DROP_REASONS: nothing. our_ip: the
 * switch's. */
enum drop frame_check_ipv4(const void *frame, size_t bytes, uint32_t our_ip, enum net_found checksum);

/* The same for the UDP part of a frame that passed frame_check_ipv4 and says UDP. */
enum drop frame_check_udp(const void *frame, enum net_found checksum);

#endif
