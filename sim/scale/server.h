/* Whatever takes packets one after the other, each for a time: the sending end of a cable, an lcore of a
 * switch. In order, so that only the first packet of each is an event that waits, however many are in flight:
 * link.h, which can reorder, has an event for each. */
#pragma once

#include "sim.h"

/* A UDP payload on its way. */
struct parcel {
    struct parcel *next;
    uint64_t at;      /* ns: when it is handed on */
    uint64_t next_at; /* the same of the next one, which need not be touched for it */
    uint16_t from;    /* a contributor of the switch that it goes to, or AGG_PARENT */
    uint16_t bytes;
    uint8_t payload[];
};

struct parcel *parcel_new(const uint8_t *payload, size_t bytes, uint16_t from); /* copies; free() */

typedef void server_hand_on(void *ctx, struct parcel *parcel); /* takes it over */

struct server {
    struct sim *sim;
    server_hand_on *hand_on;
    void *ctx;
    uint64_t delay_ns;   /* from the end of its service until a packet is handed on */
    uint64_t free_at_ps; /* when all that have come are served */
    uint64_t busy_ps;    /* in all */
    struct parcel *first, *last;
    unsigned waiting, longest; /* packets; the most there ever were */
};

/* Takes over the parcel, which needs so long. */
void server_put(struct server *s, struct parcel *parcel, uint64_t takes_ps);
void server_fini(struct server *s); /* frees what waits; the simulation must not step any more */
