/* The MAC address that the switch answers under. It must be no port's: the kernel of this machine takes
 * frames to an interface's own address for its own, gradients too. Pure functions. */
#ifndef SWAGG_BRIDGE_SWITCH_MAC_H
#define SWAGG_BRIDGE_SWITCH_MAC_H

#include "net/mac.h"

/* Writes an address that follows from the first port's alone, so that it is the same after a restart and
 * hosts find the switch where they remember it, unless a port has it. Single station, locally administered.
 * ports >= 1. */
void switch_mac_derive(struct net_mac *mac, const struct net_mac of_port[], unsigned ports);

/* The first port that has this address; -1: none. */
int switch_mac_find(const struct net_mac *mac, const struct net_mac of_port[], unsigned ports);

#endif
