/* Stations that the switch speaks to first, so that it has to ask for their MAC addresses (ARP, RFC 826): the
 * switches above it, or the routers on the way to them. Anybody can say that an address is his, so only
 * answers to questions count:
 *
 * - As long as a neighbour is not known it is asked for on all ports, and the first who answers is it.
 * - Then it is asked for where it is, now and then, and at once when another says that the address is his.
 * While it answers nobody takes its place.
 * - When it is silent, it is asked for on all ports again, and the first who answers takes its place.
 * - Where it can prove who it is (keys), nobody takes its place unproven: who else answers is sent a copy of
 *   every packet until one of them has proven himself.
 *
 * Pure: frames and clock are the caller's. Threads: the main lcore adds them before the others start, and
 * asks; any lcore notes what it hears.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "bridge/sighting.h"

enum { NEIGHBOURS_MAX = 8 };

struct neighbour {
    uint32_t ip;      /* network order */
    unsigned network; /* that it is in (port/vlans.h) */
    struct sighting seen, other;

    /* Atomic. */
    bool everywhere; /* the last question went to all ports, and is open */
    bool answered;   /* the last question was */
    bool doubted;    /* another has said that the address is his */
    bool keyed;      /* it can prove who it is */

    /* The main lcore's. */
    bool proven;       /* and has done so */
    uint64_t asked_at; /* ns; 0: never */
    unsigned silent;   /* questions in a row that were not answered */
};

struct neighbours {
    unsigned n;
    struct neighbour at[NEIGHBOURS_MAX];
};

/* Returns its number; the same for the same address. There must be room. */
unsigned neighbours_add(struct neighbours *n, unsigned network, uint32_t ip);

/* Whether it can prove who it is. The main lcore. */
void neighbours_set_keyed(struct neighbours *n, unsigned number, bool keyed);

/* An ARP message with this sender came in by port. answer: it is a reply to the switch. False: it is from
 * none of them. Any lcore. */
bool neighbours_note(struct neighbours *n, unsigned network, uint32_t ip, const struct net_mac *mac,
                     uint8_t port, bool answer);

/* This station has proven that it speaks for the neighbour. The main lcore. */
void neighbours_prove(struct neighbours *n, unsigned number, const struct net_mac *mac, uint8_t port);

/* Where a neighbour is; false: it is not known. Any lcore. */
bool neighbours_find(const struct neighbours *n, unsigned number, struct net_mac *mac, uint8_t *port);

/* Who else may be the neighbour, and has to prove it; false: nobody. Any lcore. */
bool neighbours_find_other(const struct neighbours *n, unsigned number, struct net_mac *mac, uint8_t *port);

/* Those heard on this port are not known any more, and asked for at once. The main lcore. */
void neighbours_lose(struct neighbours *n, uint8_t port);

/* Whether the caller is to ask for it now, on this port, or, if *port is -1, on all: every second as long as
 * it does not answer, and now and then after that. now: ns, monotonic. The main lcore. */
bool neighbours_is_due(struct neighbours *n, unsigned number, uint64_t now, int *port);
