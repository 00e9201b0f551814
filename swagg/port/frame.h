/* Frames addressed to the switch itself, checked on arrival: faults under the names that operators see.
 * Layouts and building: net/udp_frame.h.
 */
#ifndef SWAGG_BASE_FRAME_H
#define SWAGG_BASE_FRAME_H

#include "base/counters.h"
#include "net/check.h"
#include "net/udp_frame.h"

enum {
    FRAME_PORT_BYTES = sizeof(struct net_ethernet) + sizeof(struct net_tag)
}; /* a frame may be longer than the MTU by */

/* What is wrong with a frame that has a whole Ethernet header with type IPv4; DROP_REASONS: nothing. our_ip:
 * the switch's. */
enum drop frame_check_ipv4(const void *frame, size_t bytes, uint32_t our_ip, enum net_found checksum);

/* The same for the UDP part of a frame that has passed frame_check_ipv4 and whose protocol is UDP. ones_sum:
 * from any struct agg_kernels. */
enum drop frame_check_udp(const void *frame, enum net_found checksum, agg_ones_sum_fn *ones_sum);

#endif
