/* The kernel socket below a port of DPDK's net_af_packet, which the driver keeps to itself. */
#ifndef SWAGG_PACKET_SOCKET_H
#define SWAGG_PACKET_SOCKET_H

#include <stdint.h>

/* This process's packet socket on a kernel interface; -1: none. It stays the driver's. */
int packet_socket_find(unsigned if_index);

/* When a port is congested the driver waits until its socket is writable, and with it all ports of the lcore.
 * A socket whose send buffer exceeds its ring is always writable: the driver then finds its ring full, and
 * returns. 0, or -errno. */
int packet_socket_never_wait(int fd);

/* Frames that the kernel dropped since the last call because the receive ring was full. */
uint32_t packet_socket_missed(int fd);

#endif
