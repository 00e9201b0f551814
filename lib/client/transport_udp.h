/* Data packets over one kernel UDP socket, connected to the switch where that has a single data port. Packets
 * are sent and received in batches (recvmmsg, sendmmsg); the kernel gathers header and tensor memory. Where
 * the kernel can, runs of packets of equal size are handed to it as one (UDP_SEGMENT) and received as one
 * (UDP_GRO). */
#ifndef SWAGG_CLIENT_TRANSPORT_UDP_H
#define SWAGG_CLIENT_TRANSPORT_UDP_H

#include <netinet/in.h>

#include "transport.h"

/* mtu: at least CLIENT_MTU_MIN. checksum: of the packets that will be sent; packets that have one are sent
 * without UDP's. *out is the caller's, to be closed by its ops->close. Returns 0 or -errno. */
int transport_udp_open(struct transport **out, struct in_addr switch_ip, uint16_t port, unsigned mtu,
                       enum sml_checksum checksum);

#endif
