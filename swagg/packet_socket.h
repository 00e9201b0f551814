/* The kernel sockets below a port of DPDK's net_af_packet, which the driver keeps to itself. */
#ifndef SWAGG_PACKET_SOCKET_H
#define SWAGG_PACKET_SOCKET_H

#include <stdint.h>

/* This process's packet sockets on a kernel interface: returns how many, at most max. They stay the driver's.
 */
unsigned packet_socket_find(unsigned if_index, int fds[], unsigned max);

/* When a port is congested the driver waits until its socket is writable, and with it all ports of the lcore.
 * A socket whose send buffer exceeds its ring is always writable: the driver then finds its ring full, and
 * returns. 0, or -errno. */
int packet_socket_never_wait(int fd);

/* Frames that the kernel dropped since the last call because the receive ring was full. */
uint32_t packet_socket_missed(int fd);

#endif
