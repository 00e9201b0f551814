/* A device that DPDK drives, with an IPv4 address of its own: it finds neighbours by ARP and answers them,
 * and ping. Jobs of one process share a port.
 *
 * Whoever has the port's lock polls it: the thread that is in a call; and while none is, a thread of the
 * port's own, once a millisecond. What comes is given to the end that has the UDP port.
 */
#pragma once

#include <pthread.h>

#include <rte_mbuf.h>

#include "net/udp_frame.h"
#include "network.h"

struct port;

enum { PORT_BURST = 64 };

/* Who has a UDP port of this host's. */
struct port_end {
    uint16_t udp_port; /* network order; the port sets it */
    /* With the lock held: a datagram, checked and whole. True: the frame is the end's from now on, to be
     * freed by it with the lock held. */
    bool (*take)(struct port_end *end, struct rte_mbuf *m, struct frame_udp *frame);
    /* With the lock held, by the port's thread: a chance to do what is due; fd is readable. Where fd is -1
     * never. */
    void (*serve)(struct port_end *end);
    int fd; /* of a descriptor that the port's thread sleeps on; -1: none */
};

/* The one that the options name, opened if it is not yet. 0, with what it is in words; or -errno, with why.
 */
int port_get(struct port **out, const struct client_port *wish, char why[NETWORK_WORDS]);
void port_let_go(struct port *port);

void port_lock(struct port *port);
void port_unlock(struct port *port);

/* All that follows with the lock held. */

/* Gives the end a UDP port. -EMFILE: all are in use. */
int port_add(struct port *port, struct port_end *end);
void port_remove(struct port *port, struct port_end *end);

/* Receives once; returns how many frames came. */
unsigned port_poll(struct port *port);

uint32_t port_address(const struct port *port); /* network order */
unsigned port_mtu(const struct port *port);     /* bytes of an IP packet */
const struct agg_kernels *port_kernels(const struct port *port);

/* Whether the driver has read what a frame refers to when port_send returns; then it may refer to memory that
 * is not the frame's own. */
bool port_reads_at_once(const struct port *port);

/* The station that packets to this address go to; NULL: it does not answer yet, and is asked. */
const struct net_mac *port_neighbour(struct port *port, uint32_t ip);
/* The headers of frames to there. */
void port_header(const struct port *port, struct frame_header *out, const struct net_mac *mac, uint32_t ip,
                 uint16_t udp_port);

/* A frame of so many bytes, to be filled in; NULL: there is no buffer. */
struct rte_mbuf *port_frame(struct port *port, size_t bytes);

/* Makes a frame go on with bytes that lie elsewhere (port_reads_at_once). False: it cannot. */
bool port_append(struct port *port, struct rte_mbuf *m, const void *bytes, size_t n);

/* Sends; what the device does not take in time is dropped. The frames are the port's. */
void port_send(struct port *port, struct rte_mbuf *frames[], unsigned n);

/* Wakes the port's thread, so that it sees ends that have come or gone. Without the lock. */
void port_wake(struct port *port);
