/* Control messages from the polling lcores to the main lcore, which sleeps in between. What is let in
 * (control/intake.h) waits in two lines, members' messages in one and strangers' in the other. Each line has
 * a ring for each port, so that no port takes the room of another.
 */
#pragma once

#include <rte_mbuf.h>
#include <rte_ring.h>

#include "base/counters.h"
#include "config/placement.h"
#include "control/intake.h"
#include "port/facts.h"

enum { INBOX_RING_SIZE = 512, INBOX_BURST = 32, INBOX_SHARE = 8 /* of a burst: one port's, at most */ };

enum inbox_line { INBOX_MEMBERS, INBOX_STRANGERS, INBOX_LINES };

struct inbox {
    /* many producers, one consumer; NULL: there is no such port */
    struct rte_ring *ring[INBOX_LINES][SWAGG_MAX_PORTS];
    int wakeup;                    /* eventfd, written after a ring */
    struct ctl_intake_rules rules; /* the main lcore's to change */

    /* The main lcore's. */
    unsigned ports;             /* numbers less than this may have rings */
    unsigned next[INBOX_LINES]; /* the port whose turn it is */
};

/* The rules are there. 0, or -errno (-ENOMEM: of the memory of DPDK); inbox_close may follow in either case.
 */
int inbox_open(struct inbox *in, unsigned ports);

/* Makes room for a port's frames; nothing if there is some. Any lcore may use it from then on. 0, or -ENOMEM.
 * The main lcore. */
int inbox_add(struct inbox *in, unsigned port);

/* Frees what is in it. wakeup < 0: there is nothing to close. */
void inbox_close(struct inbox *in);

/* Where a checked frame to a control port came from; its port is our number. */
struct ctl_endpoint inbox_sender(const struct rte_mbuf *m);
/* Whether it came to the port for switches above. */
bool inbox_is_from_above(const struct rte_mbuf *m);

/* The control room: takes over such frames, which came in by this port, wakes the main lcore, and drops those
 * that are not let in. intake, counters: the calling lcore's. now: ns, monotonic. */
void inbox_receive(struct inbox *in, struct ctl_intake *intake, struct counters *counters, unsigned port,
                   struct facts *const burst[], unsigned n, uint64_t now);

/* Makes wakeup readable. Any thread. */
void inbox_wake(struct inbox *in);

/* Makes wakeup unreadable until the next inbox_receive or inbox_wake. The main lcore calls it before
 * inbox_take.
 */
void inbox_clear(struct inbox *in);

/* Takes up to a burst of frames of a line, from the ports in turn; returns how many. The main lcore. */
unsigned inbox_take(struct inbox *in, enum inbox_line line, struct rte_mbuf *taken[INBOX_BURST]);
