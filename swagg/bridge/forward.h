/* Switches a frame between two stations: to the port where the bridge last heard the destination, or to all
 * others. Inline, since every switched frame passes here. */
#ifndef SWAGG_BRIDGE_FORWARD_H
#define SWAGG_BRIDGE_FORWARD_H

#include "bridge/bridge.h"
#include "net/headers.h"
#include "port/linux/gso.h"
#include "port/send.h"

/* To every port but the one that the frame came in by. Takes it over. */
static inline void forward_to_all(struct send *s, unsigned port, struct rte_mbuf *m)
{
    count_event(s->counters, EVENT_FLOODED, linux_gso_frames(m));
    send_flood(s, port, m);
}

/* port: that the frame came in by. Takes it over, unless the bridge does not know its destination: then it
 * returns false. */
static inline bool forward_to_known(const struct bridge *b, struct send *s, unsigned port, struct rte_mbuf *m)
{
    const struct net_ethernet *eth = rte_pktmbuf_mtod(m, const struct net_ethernet *);
    const int egress = bridge_lookup(b, eth->dst_addr.addr_bytes);

    if (egress < 0)
        return false;
    if ((unsigned)egress == port) {
        count_drop(s->counters, port, DROP_SAME_PORT, 1);
        rte_pktmbuf_free(m);
    } else {
        count_event(s->counters, EVENT_FORWARDED, linux_gso_frames(m));
        send_put(s, (unsigned)egress, m);
    }
    return true;
}

/* The same, to all other ports if the bridge does not know it. */
static inline void forward(const struct bridge *b, struct send *s, unsigned port, struct rte_mbuf *m)
{
    if (!forward_to_known(b, s, port, m))
        forward_to_all(s, port, m);
}

#endif
