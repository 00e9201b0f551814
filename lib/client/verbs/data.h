/* Data packets by a NIC's queue pair (RoCE v2, an unreliable connection to the switch), in the place of a UDP
 * socket's: the NIC makes headers and checks, and brings what comes to memory that it was shown; the kernel
 * sees neither. Each packet is a send of one packet (wire/roce.h), so a loss is one of that packet alone, as
 * by UDP.
 *
 * A UDP socket is there, too: its port is what the switch knows the rank by, and by it comes what the switch
 * says to those whom it does not know.
 */
#pragma once

#include "network.h"

/* *out is the caller's, to be closed by its ops->close. udp: the transport that it adds to, which is its own
 * from here on, whatever is returned. device: the NIC's name; "": the one that has the address that leads to
 * the switch. Returns 0; or -errno, with why not in words. */
int data_open(struct transport **out, struct transport *udp, const struct transport_config *config,
              const char *device, char why[NETWORK_WORDS]);
