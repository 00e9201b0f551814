/* Frames from the polling lcores to the main one, which sleeps: a ring a port, so that what comes in on one
 * takes no place of another's.
 */
#ifndef SWAGG_LCORE_INBOX_H
#define SWAGG_LCORE_INBOX_H

#include <rte_mbuf.h>
#include <rte_ring.h>

#include "config/placement.h"

enum { INBOX_RING_SIZE = 512, INBOX_BURST = 32, INBOX_SHARE = 8 /* of a burst: one port's, at most */ };

struct inbox {
    unsigned ports;
    struct rte_ring *ring[SWAGG_MAX_PORTS]; /* many producers, one consumer */
    int wakeup;                             /* eventfd, written after a ring */

    /* The main lcore's. */
    unsigned next; /* the port whose turn it is */
};

/* -ENOMEM, after which inbox_close is right, too. */
int inbox_open(struct inbox *in, unsigned ports);

/* Frees what is in it. wakeup < 0: it was never opened. */
void inbox_close(struct inbox *in);

/* Takes the frame over and wakes the main lcore; false: the port's ring is full. Any lcore. */
bool inbox_put(struct inbox *in, unsigned port, struct rte_mbuf *m);

/* Has wakeup readable again, once, at least. Any thread. */
void inbox_wake(struct inbox *in);

/* Until the next inbox_put or inbox_wake, wakeup is not readable. The main lcore, before it takes. */
void inbox_clear(struct inbox *in);

/* Hands over up to a burst, of the ports in turn; returns how many. 0: there are none. The main lcore. */
unsigned inbox_take(struct inbox *in, struct rte_mbuf *taken[INBOX_BURST]);

#endif
