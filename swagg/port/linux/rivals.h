/* What else of this machine takes frames that are the switch's: said at the start, with what mends it. */
#ifndef SWAGG_PORT_LINUX_RIVALS_H
#define SWAGG_PORT_LINUX_RIVALS_H

#include <stdbool.h>

#include <rte_byteorder.h>

/* An interface that a port uses: the kernel answers for its addresses, and a bridge that it is in switches
 * its frames a second time. Warnings. */
void linux_rivals_warn(const char *port, const char *interface, unsigned if_index);

/* The switch's address must be no interface's. from_kernel: ports are on the kernel's interfaces, so that the
 * kernel would answer for it there: 0, or -EADDRINUSE after logging; otherwise a warning. ip 0: there is
 * none. */
int linux_rivals_check_ip(rte_be32_t ip, bool from_kernel);

#endif
