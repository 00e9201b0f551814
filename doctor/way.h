/* The way to a switch: whether it answers, how long packets may be, how many are lost. What is sent are
 * questions that any switch answers to anybody: path probes, and a heartbeat of nobody (docs/protocol.md,
 * "Path probes"). */
#pragma once

#include <netinet/in.h>

#include "findings.h"

enum { WAY_MTU_LEAST = 576, WAY_MTU_MOST = 9216 };

struct way_wish {
    const char *name; /* of the switch, as it was given */
    struct in_addr ip;
    double patience;    /* s: who is silent for so long is not there */
    unsigned mtu;       /* bytes that packets are to have; WAY_MTU_LEAST and more; 0: as many as the interface
                           carries */
    unsigned questions; /* by which losses are counted */
};

/* Whether packets go both ways, so that a job could begin. Looks at interface and ARP, too. */
bool way_look(struct findings *f, const struct way_wish *wish);
