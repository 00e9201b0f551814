/* The kernel's interface that leads to the chip's CPU port, and has the switch's IP address. Errors are
 * logged. */
#ifndef SWAGG_TOFINO_INTERFACE_H
#define SWAGG_TOFINO_INTERFACE_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

/* By which hosts know the switch. */
bool interface_mac(const char *name, uint8_t mac[6]);

/* A UDP socket at this address (network order) and port; -1: there is none. */
int interface_socket(uint32_t ip, uint16_t port);

/* The MAC address of a neighbour. fd: any socket. False: the kernel does not know it, which is no error. */
bool interface_neighbour(int fd, const char *name, const struct sockaddr_in *of, uint8_t mac[6]);

#endif
