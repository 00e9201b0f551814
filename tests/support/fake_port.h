/* A port without a device: a test puts in what is to be received, and takes out what was sent. All queues of
 * one thread.
 *
 * Frames belong to the fake port from arrival until they are received, and from being sent until they are
 * taken.
 */
#pragma once

#include "port/port.h"

enum { FAKE_PORT_QUEUES = 4, FAKE_PORT_FRAMES = 1024 };

struct fake_frames {
    struct rte_mbuf *frame[FAKE_PORT_FRAMES];
    unsigned n;
};

/* What a test sets and reads. */
struct fake_port {
    struct fake_frames arriving[FAKE_PORT_QUEUES], sent[FAKE_PORT_QUEUES];
    unsigned room; /* frames that it takes before it is full; FAKE_PORT_FRAMES at first */
    bool down;
    uint64_t waiting;   /* bytes, as it says */
    unsigned rules;     /* of steer, that are in force */
    unsigned rules_max; /* it refuses those beyond; UINT_MAX at first */
    uint16_t rule_port[64], rule_queue[64];
    bool deals; /* its hash can be chosen; false at first */
    uint16_t dealt_queue[PORT_DEALS];
};

/* Makes `port` a port of this kind, with queues but no impairments and no ring. fake: lives as long. False:
 * no memory. */
bool fake_port_init(struct port *port, struct fake_port *fake, const char *name, unsigned queues);
/* Frees the queues, and the frames that nobody has taken. */
void fake_port_close(struct port *port);

void fake_port_arrive(struct fake_port *fake, unsigned queue, struct rte_mbuf *frame);

/* The next frame sent by this queue, in order, which is the caller's from here on; NULL: there is none. */
struct rte_mbuf *fake_port_take(struct fake_port *fake, unsigned queue);
