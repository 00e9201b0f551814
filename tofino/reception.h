/* What comes to the switch's own address, within bounds, since its senders may be forged: control messages
 * within those of control/anteroom.h. Path probes are answered as often as base/path_rate.h says.
 *
 * No sockets. One thread. Times by the clock of membership.h.
 */
#ifndef SWAGG_TOFINO_RECEPTION_H
#define SWAGG_TOFINO_RECEPTION_H

#include "base/path_rate.h"
#include "registry/anteroom.h"
#include "shown.h"

/* Fills in the MAC address of an IP address. False: it is not known yet. Then the message is dropped, and
 * comes again. */
typedef bool reception_neighbour(void *context, struct ctl_endpoint *of);

struct reception {
    struct membership *membership; /* which has begun whenever a message comes */
    struct tofino_counts *counts;
    reception_neighbour *neighbour;
    void *context;

    struct anteroom anteroom;
    struct path_rate paths;
};

/* The four fields above were set. */
void reception_init(struct reception *r, const struct config *cfg);
void reception_free(struct reception *r);

/* A payload that came to CTL_PORT; the sender's MAC address is not known yet. */
void reception_message(struct reception *r, const struct ctl_endpoint *from, const uint8_t *payload,
                       size_t bytes, uint64_t now);

/* Handles some of the strangers' messages. True: more wait. */
bool reception_serve(struct reception *r, uint64_t now);

/* To be called after membership_tick. */
void reception_tick(struct reception *r, uint64_t now);

/* A payload that came to a data port, from this address (network order). True: it has become an answer, which
 * is to be sent back. */
bool reception_question(struct reception *r, uint32_t from, uint8_t *payload, size_t bytes, uint64_t now);

#endif
