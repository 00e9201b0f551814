/* Frames from the polling lcores to the main lcore, which sleeps in between. There is a ring for each port,
 * so that no port takes the room of another.
 */
#ifndef SWAGG_LCORE_INBOX_H
#define SWAGG_LCORE_INBOX_H

#include <rte_mbuf.h>
#include <rte_ring.h>

#include "config/placement.h"

enum { INBOX_RING_SIZE = 512, INBOX_BURST = 32, INBOX_SHARE = 8 /* of a burst: one port's, at most */ };

struct inbox {
    struct rte_ring *ring[SWAGG_MAX_PORTS]; /* many producers, one consumer; NULL: there is no such port */
    int wakeup;                             /* eventfd, written after a ring */

    /* The main lcore's. */
    unsigned ports; /* numbers less than this may have a ring */
    unsigned next;  /* the port whose turn it is */
};

/* 0, or -ENOMEM; inbox_close may follow in either case. */
int inbox_open(struct inbox *in, unsigned ports);

/* Makes room for a port's frames; nothing if there is some. Any lcore may use it from then on. 0, or -ENOMEM.
 * The main lcore. */
int inbox_add(struct inbox *in, unsigned port);

/* Frees what is in it. wakeup < 0: there is nothing to close. */
void inbox_close(struct inbox *in);

/* Takes the frame over and wakes the main lcore; false: the port's ring is full. Any lcore. */
bool inbox_put(struct inbox *in, unsigned port, struct rte_mbuf *m);

/* Makes wakeup readable. Any thread. */
void inbox_wake(struct inbox *in);

/* Makes wakeup unreadable until the next inbox_put or inbox_wake. The main lcore calls it before inbox_take.
 */
void inbox_clear(struct inbox *in);

/* Takes up to a burst of frames, from the ports in turn; returns how many. The main lcore. */
unsigned inbox_take(struct inbox *in, struct rte_mbuf *taken[INBOX_BURST]);

#endif
