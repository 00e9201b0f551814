/* A frame by which a switch finds loops: it is sent to everybody on a port, and nobody answers it. If it
 * comes back, by this or another port of the same switch, then what the switch floods goes round. Each port
 * has a random number of its own, which only those behind it see, so nobody can fake a loop between two other
 * ports.
 *
 * A broadcast of the type for local experiments (IEEE 802, 9.2.4), 60 bytes. Pure and reentrant.
 */
#pragma once

#include "net/headers.h"

enum { NET_LOOP_PROBE_BYTES = 60 };

/* Writes a probe, NET_LOOP_PROBE_BYTES, from the switch with this address. number: the port's. */
void loop_probe_write(void *out, const struct net_mac *mac, uint64_t number);

/* Whether an untagged frame is a probe; *number: its port's. */
bool loop_probe_read(const struct net_ethernet *eth, size_t bytes, uint64_t *number);
