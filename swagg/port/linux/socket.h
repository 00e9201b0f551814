/* The packet sockets of a port on a kernel interface, also when the interface is deleted and made anew. A
 * socket belongs to the interface that it was opened on, and receives nothing once that is deleted. A socket
 * on the new interface then gets the old one's descriptor number (linux_sockets_replace), so that the polling
 * lcore need not know.
 */
#ifndef SWAGG_PORT_LINUX_SOCKET_H
#define SWAGG_PORT_LINUX_SOCKET_H

#include <stdbool.h>

#include "config/placement.h"

struct linux_sockets {
    unsigned rx_queues, tx_queues;
    int rx[SWAGG_MAX_QUEUES], tx[SWAGG_MAX_QUEUES];
};

/* Opens s->rx_queues and s->tx_queues sockets on an interface, and binds them: they receive from here on. If
 * there are several, the kernel deals frames to them by a hash of the flow. 0, or -errno with none left open.
 */
int linux_sockets_open(struct linux_sockets *s, unsigned if_index);

/* Whether the interface of a socket has been deleted, or has left the network namespace. */
bool linux_socket_is_orphan(int fd);

/* The descriptors of s refer to the sockets of `by` from here on, and those of `by` are closed. Lcores may
 * use s meanwhile. Both have the same numbers of queues. */
void linux_sockets_replace(const struct linux_sockets *s, const struct linux_sockets *by);

#endif
