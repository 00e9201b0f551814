/* Data packets over one kernel UDP socket, connected to the switch where that has a single data port. Packets
 * are sent and received in batches (recvmmsg, sendmmsg); the kernel gathers header and tensor memory. Where
 * the kernel can, runs of packets of equal size are handed to it as one (UDP_SEGMENT) and received as one
 * (UDP_GRO). */
#pragma once

#include "transport.h"

/* *out is the caller's, to be closed by its ops->close. Returns 0 or -errno. */
int transport_udp_open(struct transport **out, const struct transport_config *config);
