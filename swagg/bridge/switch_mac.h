/* The switch's own MAC address. No port may have it: this machine's kernel takes frames to an interface's
 * address as its own, and would answer gradient packets. Pure functions. */
#pragma once

#include "net/mac.h"

/* Derives an address from the first port's, so that it is the same after a restart and hosts need not learn
 * another. It is locally administered, and differs from every port's. ports >= 1. */
void switch_mac_derive(struct net_mac *mac, const struct net_mac of_port[], unsigned ports);

/* The first port that has this address; -1: none. */
int switch_mac_find(const struct net_mac *mac, const struct net_mac of_port[], unsigned ports);
