/* What else on this machine handles frames that are meant for the switch. Checked at the start; the log names
 * it and tells how to mend it. */
#pragma once

#include <stdbool.h>

#include <rte_byteorder.h>

/* Warns if the interface of a port has addresses, for which the kernel answers, or is part of a bridge, which
 * switches its frames a second time. */
void linux_rivals_warn(const char *port, const char *interface, unsigned if_index);

/* Checks that no interface has the switch's address. If one has, and from_kernel (ports are on interfaces of
 * the kernel's, which would answer for it there): -EADDRINUSE after logging; otherwise only a warning, and 0.
 * ip 0: there is none. */
int linux_rivals_check_ip(rte_be32_t ip, bool from_kernel);
