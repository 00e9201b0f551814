/* Data packets by a NIC's queue pair (RoCE v2, an unreliable connection to the switch), in the place of a UDP
 * socket's: the NIC makes headers and checks, and brings what comes to memory that it was shown; the kernel
 * sees neither. Packets that fill the path's MTU are sent several as one message, and each is read by itself
 * (wire/roce.h), so a loss is one of that packet alone, as by UDP. What comes are messages of one packet.
 *
 * A UDP socket is there, too: its port is what the switch knows the rank by, and by it comes what the switch
 * says to those whom it does not know.
 */
#pragma once

#include "network.h"

/* *out is the caller's, to be closed by its ops->close. udp: the transport that it adds to, which is its own
 * from here on, whatever is returned. wish: of the NIC; without a name it is the one that has the address
 * that leads to the switch. Returns 0; or -errno, with why not in words. */
int data_open(struct transport **out, struct transport *udp, const struct transport_config *config,
              const struct client_port *wish, char why[NETWORK_WORDS]);
