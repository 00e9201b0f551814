/* Properties of an interface, by its number, which stays the same when it is renamed. Any thread. */
#ifndef SWAGG_PORT_LINUX_INTERFACE_H
#define SWAGG_PORT_LINUX_INTERFACE_H

#include <stdbool.h>
#include <stdint.h>

#include "net/mac.h"

/* Up, and its link too. */
bool linux_interface_is_up(unsigned if_index);

/* Its MTU, or -errno. */
int linux_interface_mtu(unsigned if_index);

/* 0, or -errno. */
int linux_interface_mac(unsigned if_index, struct net_mac *mac);

/* Whether the device itself merges frames (LRO), which cannot be cut into the same frames again. */
bool linux_interface_merges(unsigned if_index);

#endif
