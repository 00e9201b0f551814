/* Switches frames between stations: to the port where the bridge last heard the destination, or to all
 * others. Inline, since every switched frame passes here. */
#pragma once

#include "bridge/bridge.h"
#include "net/headers.h"
#include "port/facts.h"
#include "port/linux/gso.h"
#include "port/send.h"

/* To every port but the one that the frame came in by. Takes it over. */
static inline void forward_to_all(struct send *s, unsigned port, struct rte_mbuf *m)
{
    count_event(s->counters, EVENT_FLOODED, linux_gso_frames(m));
    send_flood(s, port, m);
}

/* port: that the frame came in by; egress: where the bridge knows its destination, negative: nowhere. Takes
 * it over. */
static inline void forward(struct send *s, unsigned port, int egress, struct rte_mbuf *m)
{
    if (egress < 0) {
        forward_to_all(s, port, m);
    } else if ((unsigned)egress == port) {
        count_drop(s->counters, port, DROP_SAME_PORT, 1);
        rte_pktmbuf_free(m);
    } else {
        count_event(s->counters, EVENT_FORWARDED, linux_gso_frames(m));
        send_put(s, (unsigned)egress, m);
    }
}

/* The bridge's room: frames that came in by this port, in their order, to known stations and to all. */
static inline void forward_burst(struct send *s, unsigned port, struct facts *const burst[], unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        forward(s, port, burst[i]->egress, burst[i]->m);
}
