/* A device that moves data for nothing: it hands out frames that were prepared in memory, and takes back what
 * is sent. What a driver cannot do without is there: for every burst received as many buffers are taken from
 * the pool, to be filled next time, and what was sent is freed a ring later. There are no descriptors, no
 * registers and no copies.
 *
 * Frames belong to the device until they are received, and from being sent until it frees them. Threads: one.
 */
#pragma once

#include "port/port.h"

enum { PREPARED_MOST = 4096, PREPARED_SENT = 1024 /* frames that wait to be freed; a power of two */ };

struct prepared {
    struct rte_mempool *mbufs;
    struct rte_mbuf *ready[PREPARED_MOST]; /* to be received, in this order */
    struct rte_mbuf *empty[PREPARED_MOST]; /* that will be, once they are filled */
    unsigned filled, received;             /* of ready; there are as many empty ones as were received */
    struct rte_mbuf *sent[PREPARED_SENT];  /* by number modulo its length */
    uint64_t sends;                        /* so far */
    struct port_queue rx, tx;
};

/* Makes `port` a port of this kind, with a queue each way. compares: it compares checksums, as NICs do; what
 * it finds is in the frames' flags. */
void prepared_open(struct port *port, struct prepared *device, struct rte_mempool *mbufs, uint16_t max_frame,
                   bool compares);

/* After all frames were received: n empty buffers, which will be received next, to be filled. NULL: the pool
 * has not so many. */
struct rte_mbuf **prepared_refill(struct prepared *device, unsigned n);

/* Frees what the device holds. */
void prepared_close(struct prepared *device);
