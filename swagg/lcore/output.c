#include "lcore/output.h"

#include "datapath.h"
#include "port/impair_mbuf.h"

static_assert((int)OUTPUT_BURST <= (int)IMPAIR_BURST_MAX, "a burst goes through the impairments at once");

static void drop_rest(struct lcore *lc, unsigned port, enum drop reason, struct rte_mbuf **frames, unsigned n)
{
    if (n == 0)
        return;
    lcore_drop(lc, port, reason, n);
    rte_pktmbuf_free_bulk(frames, n);
}

static void transmit(struct lcore *lc, unsigned p, struct rte_mbuf **frames, uint16_t n)
{
    const struct port *port = &lc->dp->port[p];
    const uint16_t q = lc->tx_queue[p];
    struct rte_mbuf *impaired[IMPAIR_OUT_MAX];
    struct port_refused refused;

    if (port->tx[q].impaired) {
        n = impair_mbufs(&port->tx[q].impair, frames, n, impaired, lc->dp->mbufs, lc->now);
        frames = impaired;
    }
    if (n == 0)
        return;
    refused = port->device->send(port, q, frames, n);
    if (refused.full > 0)
        lcore_drop(lc, p, DROP_TX_FULL, refused.full);
    if (refused.down > 0)
        lcore_drop(lc, p, DROP_TX_DOWN, refused.down);
}

static void hand_over(struct lcore *lc, unsigned p, struct rte_mbuf **frames, uint16_t n)
{
    unsigned taken = rte_ring_enqueue_burst(lc->dp->port[p].to_send, (void **)frames, n, NULL);

    drop_rest(lc, p, DROP_RING_FULL, frames + taken, n - taken);
}

static void flush_port(struct lcore *lc, unsigned p)
{
    uint16_t n = lc->output.port[p].n;

    lc->output.port[p].n = 0;
    lc->output.waiting &= ~RTE_BIT64(p);
    if (lc->tx & RTE_BIT64(p))
        transmit(lc, p, lc->output.port[p].frame, n);
    else
        hand_over(lc, p, lc->output.port[p].frame, n);
}

void output_put(struct lcore *lc, unsigned port, struct rte_mbuf *frame)
{
    struct output *out = &lc->output;

    if (out->port[port].n == 0)
        out->port[port].since = lc->now;
    out->port[port].frame[out->port[port].n++] = frame;
    out->waiting |= RTE_BIT64(port);
    if (out->port[port].n == OUTPUT_BURST)
        flush_port(lc, port);
}

void output_flood(struct lcore *lc, unsigned except, struct rte_mbuf *frame)
{
    unsigned others = lc->dp->ports - 1;

    if (others == 0) {
        drop_rest(lc, except, DROP_NO_EGRESS, &frame, 1);
        return;
    }
    rte_pktmbuf_refcnt_update(frame, others - 1);
    for (unsigned p = 0; p < lc->dp->ports; p++)
        if (p != except)
            output_put(lc, p, frame);
}

static void flush_ports(struct lcore *lc, uint64_t ports)
{
    for (; ports != 0; ports &= ports - 1)
        flush_port(lc, rte_bsf64(ports));
}

void output_flush(struct lcore *lc)
{
    flush_ports(lc, lc->output.waiting | lc->tx_impaired);
}

void output_flush_due(struct lcore *lc)
{
    uint64_t due = lc->tx_impaired;

    for (uint64_t waiting = lc->output.waiting; waiting != 0; waiting &= waiting - 1) {
        unsigned p = rte_bsf64(waiting);

        if (lc->now - lc->output.port[p].since >= lc->dp->tx_delay)
            due |= RTE_BIT64(p);
    }
    flush_ports(lc, due);
}

unsigned output_collect(struct lcore *lc)
{
    struct rte_mbuf *frames[OUTPUT_BURST];
    unsigned total = 0;

    for (uint64_t ports = lc->tx_for_others; ports != 0; ports &= ports - 1) {
        unsigned p = rte_bsf64(ports);
        unsigned n = rte_ring_dequeue_burst(lc->dp->port[p].to_send, (void **)frames, OUTPUT_BURST, NULL);

        for (unsigned i = 0; i < n; i++)
            output_put(lc, p, frames[i]);
        total += n;
    }
    return total;
}
