/* The packet sockets of a port on a kernel interface, and following an interface that comes back.
 *
 * A socket belongs to the interface that it was opened on, and is deaf once that is deleted. The new one's
 * socket then takes the old one's number (linux_sockets_replace), so the lcore that polls notices nothing
 * but that frames come again.
 */
#ifndef SWAGG_PORT_LINUX_SOCKET_H
#define SWAGG_PORT_LINUX_SOCKET_H

#include <stdbool.h>

#include "config/placement.h"

struct linux_sockets {
    unsigned rx_queues, tx_queues;
    int rx[SWAGG_MAX_QUEUES], tx[SWAGG_MAX_QUEUES];
};

/* Opens s->rx_queues and s->tx_queues sockets on an interface, and binds them: frames are heard from here on,
 * dealt to the receiving ones by the kernel's hash of their flows if there are several. 0, or -errno with
 * none left open. */
int linux_sockets_open(struct linux_sockets *s, unsigned if_index);

/* Whether the interface of a socket has been deleted, or has left the network namespace. */
bool linux_socket_is_orphan(int fd);

/* The numbers of s get the sockets of by, whose numbers are free then; lcores may use them meanwhile. As many
 * queues each. */
void linux_sockets_replace(const struct linux_sockets *s, const struct linux_sockets *by);

#endif
