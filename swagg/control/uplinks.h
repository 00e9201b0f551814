/* The switches above this one, of which it is a worker in some jobs, and the way to each: the MAC address of
 * the parent, or of the router before it (ARP), how long packets to it may be (uplink_path.h), and control
 * messages to and from it. Which jobs they are is the relays' (relays.h).
 *
 * Threads: the main lcore's; uplinks_look, any.
 */
#pragma once

#include "bridge/neighbours.h"
#include "config/config.h"
#include "control/post.h"
#include "control/uplink_path.h"

struct uplink {
    rte_be32_t parent;
    uint8_t network;    /* that it is in (port/vlans.h) */
    unsigned neighbour; /* where packets to it go first */
    rte_be32_t next;    /* the neighbour's address */
    struct uplink_path path;
    struct net_mac told_mac; /* what the log said last */
    uint16_t told_mtu;
    uint64_t silent_since; /* ns: nobody has answered for the neighbour since; 0: somebody has */
    bool told_silent;
    /* Atomic. */
    uint64_t sent, received; /* control messages */
    uint64_t heard_at;       /* ns, monotonic_ns: when the parent last sent one; 0: never */
};

struct uplinks {
    /* Set before uplinks_init; all of it outlives them. */
    struct post post;
    struct neighbours *neighbours; /* to which they add their own, before the polling lcores start */
    const struct port *port;       /* the switch's */
    const uint64_t *ports;         /* those that there are (ports_there) */
    uint16_t probe_port;           /* UDP port of a parent's that answers path probes; host order */

    unsigned n;
    struct uplink uplink[SWAGG_MAX_UPLINKS];
};

void uplinks_init(struct uplinks *u, const struct config *cfg);

/* Sends a control message to the parent; nothing happens while the way to it is not known. */
void uplinks_send(struct uplinks *u, unsigned uplink, const void *payload, size_t bytes);

/* Whether there is a key for this uplink, by which its parent proves who it is. */
void uplinks_set_keyed(struct uplinks *u, unsigned uplink, bool keyed);

/* The parent has proven that this is its MAC address, or that of the router before it. */
void uplinks_prove(struct uplinks *u, unsigned uplink, const struct net_mac *mac, uint8_t port);

/* A checked frame to UPLINK_CONTROL_PORT: which uplink's parent sent it, -1: none's. An answer to a path
 * probe, which is no control message, is taken in: then *control is false. */
int uplinks_receive(struct uplinks *u, const struct rte_mbuf *m, bool *control);

/* Where frames to the parent go; false: not known. */
bool uplinks_find(const struct uplinks *u, unsigned uplink, struct net_mac *mac, uint8_t *port);

/* The longest UDP payload that gets to the parent and back; 0: not known yet. */
uint16_t uplinks_payload_bytes(const struct uplinks *u, unsigned uplink);

/* This port goes: parents that are behind it have to be found anew. To be called while the port is still
 * there. */
void uplinks_cut(struct uplinks *u, unsigned port, const char *name);

/* Asks what is to be asked, and logs what has changed. To be called about ten times a second. */
void uplinks_tick(struct uplinks *u, uint64_t now);
