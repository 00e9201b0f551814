/* Packet sockets: those below a port of DPDK's net_af_packet, which the driver keeps to itself, and ours
 * that sends (kernel_tx.h). */
#ifndef SWAGG_PACKET_SOCKET_H
#define SWAGG_PACKET_SOCKET_H

#include <stdint.h>

/* This process's packet sockets on a kernel interface: returns how many, at most max. They stay the driver's.
 */
unsigned packet_socket_find(unsigned if_index, int fds[], unsigned max);

/* What other sockets of the host send through the interface is not for this one to receive. 0, or -errno. */
int packet_socket_ignore_outgoing(int fd);

/* Lifts the limit on what waits in the interface's queue: when that is full the kernel drops, and says so. 0,
 * or -errno. */
int packet_socket_never_wait(int fd);

/* Frames that the kernel dropped since the last call because the receive ring was full. */
uint32_t packet_socket_missed(int fd);

#endif
