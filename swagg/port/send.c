#include "port/send.h"

#include <rte_mbuf.h>

#include "capture/pcapng.h"
#include "capture/tap.h"
#include "net/ecn.h"
#include "port/impair_mbuf.h"

static_assert((int)SEND_BURST <= (int)IMPAIR_BURST_MAX, "a burst goes through the impairments at once");

static void drop_rest(struct send *s, unsigned port, enum drop reason, struct rte_mbuf **frames, unsigned n)
{
    if (n == 0)
        return;
    count_drop(s->counters, port, reason, n);
    rte_pktmbuf_free_bulk(frames, n);
}

/* Where ports carry VLANs: puts the tags in. Returns how many frames are left. */
static uint16_t tag(struct send *s, unsigned p, struct rte_mbuf **frames, uint16_t n, struct rte_mbuf *out[])
{
    unsigned lost;
    const uint16_t left = vlans_leave(s->vlans, p, frames, n, out, s->mbufs, &lost);

    if (lost > 0)
        count_drop(s->counters, p, DROP_NO_MBUF, lost);
    return left;
}

/* Tells senders who can be told so to send less. Who shares a frame with others leaves it as it is. */
static void mark_congested(struct send *s, const struct port *port, uint16_t q, struct rte_mbuf **frames,
                           uint16_t n)
{
    uint64_t waiting = port->device->waiting(port, q);
    unsigned marked = 0;

    for (uint16_t i = 0; i < n; i++) {
        struct rte_mbuf *m = frames[i];

        if (waiting > port->ecn_above && rte_mbuf_refcnt_read(m) == 1)
            marked += net_ecn_mark(rte_pktmbuf_mtod(m, void *), m->data_len);
        waiting += m->pkt_len;
    }
    count_event(s->counters, EVENT_MARKED, marked);
}

static void transmit(struct send *s, unsigned p, struct rte_mbuf **frames, uint16_t n)
{
    const struct port *port = &s->port[p];
    const uint16_t q = s->queue[p];
    struct rte_mbuf *tagged[SEND_BURST], *impaired[IMPAIR_OUT_MAX];
    struct impair *impair = port_impairments(&port->tx[q]);
    const enum drop closed = port_drops_as(port);
    struct port_refused refused;
    struct tap *tap;

    if (unlikely(closed != DROP_REASONS)) {
        if (impair != NULL)
            impair_mbufs_flush(impair); /* or they are due for ever, and the lcore never naps */
        drop_rest(s, p, closed, frames, n);
        return;
    }
    if (unlikely(s->vlans != NULL)) {
        n = tag(s, p, frames, n, tagged);
        frames = tagged;
    }
    if (impair != NULL) {
        n = impair_mbufs(impair, frames, n, impaired, s->mbufs, s->now);
        frames = impaired;
    }
    if (n == 0)
        return;
    if (port->ecn_above > 0)
        mark_congested(s, port, q, frames, n);
    tap = port_tap(port);
    if (unlikely(tap != NULL))
        tap_take(tap, p, PCAPNG_SENT, frames, n, s->now);
    refused = port->device->send(port, q, frames, n);
    if (refused.full > 0)
        count_drop(s->counters, p, DROP_TX_FULL, refused.full);
    if (refused.down > 0)
        count_drop(s->counters, p, DROP_TX_DOWN, refused.down);
    if (refused.too_long > 0)
        count_drop(s->counters, p, DROP_OVERSIZE, refused.too_long);
}

static void hand_over(struct send *s, unsigned p, struct rte_mbuf **frames, uint16_t n)
{
    unsigned taken = rte_ring_enqueue_burst(s->port[p].to_send, (void **)frames, n, NULL);

    drop_rest(s, p, DROP_RING_FULL, frames + taken, n - taken);
    port_wake_sender(&s->port[p]);
}

void send_port(struct send *s, unsigned p)
{
    uint16_t n = s->to[p].n;

    s->to[p].n = 0;
    s->waiting &= ~RTE_BIT64(p);
    if (s->own & RTE_BIT64(p))
        transmit(s, p, s->to[p].frame, n);
    else
        hand_over(s, p, s->to[p].frame, n);
}

void send_nowhere(struct send *s, unsigned port, struct rte_mbuf *frame)
{
    drop_rest(s, port, DROP_NO_PORT, &frame, 1);
}

void send_flood(struct send *s, unsigned except, struct rte_mbuf *frame)
{
    uint64_t others = except == SEND_TO_ALL ? s->ports : s->ports & ~RTE_BIT64(except);

    if (others == 0) {
        drop_rest(s, except == SEND_TO_ALL ? 0 : except, DROP_NO_EGRESS, &frame, 1);
        return;
    }
    rte_pktmbuf_refcnt_update(frame, (int16_t)(__builtin_popcountll(others) - 1));
    for (; others != 0; others &= others - 1)
        send_put(s, rte_bsf64(others), frame);
}

static void flush_ports(struct send *s, uint64_t ports)
{
    for (; ports != 0; ports &= ports - 1)
        send_port(s, rte_bsf64(ports));
}

void send_flush(struct send *s)
{
    flush_ports(s, s->waiting | __atomic_load_n(&s->impaired, __ATOMIC_RELAXED));
}

void send_flush_due(struct send *s)
{
    uint64_t due = __atomic_load_n(&s->impaired, __ATOMIC_RELAXED);

    for (uint64_t waiting = s->waiting; waiting != 0; waiting &= waiting - 1) {
        unsigned p = rte_bsf64(waiting);

        if (s->now - s->to[p].since >= s->delay)
            due |= RTE_BIT64(p);
    }
    flush_ports(s, due);
}

unsigned send_collect(struct send *s)
{
    struct rte_mbuf *frames[SEND_BURST];
    unsigned total = 0;

    for (uint64_t ports = s->for_others; ports != 0; ports &= ports - 1) {
        unsigned p = rte_bsf64(ports);
        unsigned n = rte_ring_dequeue_burst(s->port[p].to_send, (void **)frames, SEND_BURST, NULL);

        for (unsigned i = 0; i < n; i++)
            send_put(s, p, frames[i]);
        total += n;
    }
    return total;
}

bool send_is_wanted(const struct send *s)
{
    for (uint64_t ports = s->for_others; ports != 0; ports &= ports - 1)
        if (!rte_ring_empty(s->port[rte_bsf64(ports)].to_send))
            return true;
    return false;
}
