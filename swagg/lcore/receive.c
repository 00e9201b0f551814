/* The way of a received frame, from top to bottom: rx -> facts -> classify -> room -> egress. A burst takes
 * each step as a whole, and nobody hands a frame back: a room sends it, keeps it, or drops it under a name.
 *
 *   rx         receives a burst; impairments, captures            port/, capture/tap.c
 *   facts      reads what each frame says, and finds its network  port/facts.h, port/vlans.c
 *   classify   whose each frame is, while its facts are at hand   lcore/receive_classify.c
 *   room       aggregate: packets of jobs                         aggregate/engine.c
 *              control: messages for the main lcore               lcore/inbox.c
 *              host: ARP and ping                                 bridge/host.c
 *              bridge: between stations, known or not             bridge/forward.h
 *              drop: what goes no further                         here
 *   egress     gathered by port, sent by the end of the round     port/send.c
 */
#include "lcore/receive.h"

#include <rte_prefetch.h>

#include "bridge/forward.h"
#include "capture/pcapng.h"
#include "capture/tap.h"
#include "lcore/receive_classify.h"
#include "port/impair_mbuf.h"

static_assert((int)RECEIVE_BURST <= (int)IMPAIR_BURST_MAX, "a burst goes through the impairments at once");

static void drop(struct receive *r, unsigned port, struct facts *const burst[], unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        count_drop(r->counters, port, burst[i]->why, burst[i]->frames);
        tap_dropped(port_tap(&r->port[port]), port, burst[i]->why, burst[i]->m, r->now);
        rte_pktmbuf_free(burst[i]->m);
    }
}

static void serve(struct receive *r, struct burst *b)
{
    engine_receive(r->engine, b->port, b->room[ROOM_AGGREGATE], b->in[ROOM_AGGREGATE]);
    inbox_receive(r->to_control, &r->intake, r->counters, b->port, b->room[ROOM_CONTROL], b->in[ROOM_CONTROL],
                  engine_ns(r->engine, r->now));
    host_receive(r->host, b->port, b->room[ROOM_HOST], b->in[ROOM_HOST]);
    forward_burst(r->send, b->port, b->room[ROOM_BRIDGE], b->in[ROOM_BRIDGE]);
    drop(r, b->port, b->room[ROOM_DROP], b->in[ROOM_DROP]);
}

static void handle(struct receive *r, unsigned port, struct rte_mbuf *const frames[], unsigned n)
{
    struct burst b;

    b.port = port;
    b.rules = classifier_table(r->classifier);
    b.own_mac = facts_mac(&b.rules->mac);
    memset(b.learned, BURST_NOBODY, sizeof(b.learned));
    memset(b.in, 0, sizeof(b.in));
    b.rule = NULL;
    classify_burst(r, &b, frames, n);
    serve(r, &b);
}

/* r->full: whether there may be more. */
static unsigned poll_queue(struct receive *r, unsigned p, uint16_t q)
{
    const struct port *port = &r->port[p];
    struct rte_mbuf *received[RECEIVE_BURST], *impaired[IMPAIR_OUT_MAX], **frames = received;
    struct impair *impair = port_impairments(&port->rx[q]);
    struct tap *tap = port_tap(port);
    const enum drop closed = port_drops_as(port);
    uint16_t n = port->device->receive(port, q, received, RECEIVE_BURST);

    r->full |= n == RECEIVE_BURST;
    count_event(r->counters, EVENT_RECEIVED, linux_gso_count(received, n));
    if (unlikely(closed != DROP_REASONS)) {
        if (impair != NULL)
            impair_mbufs_flush(impair); /* or they are due for ever, and the lcore never naps */
        count_drop(r->counters, p, closed, n);
        for (unsigned i = 0; i < n; i++)
            tap_dropped(tap, p, closed, received[i], r->now);
        rte_pktmbuf_free_bulk(received, n);
        return n;
    }
    if (impair != NULL) {
        n = impair_mbufs(impair, received, n, impaired, r->mbufs, r->now);
        frames = impaired;
    }
    if (unlikely(tap != NULL))
        tap_take(tap, p, PCAPNG_RECEIVED, frames, n, r->now);
    for (unsigned i = 0; i < n; i++) {
        rte_prefetch0(rte_pktmbuf_mtod(frames[i], const void *));
        rte_mbuf_prefetch_part2(frames[i]); /* its pool, for when it is kept or freed */
    }
    for (unsigned at = 0; at < n; at += RECEIVE_BURST)
        handle(r, p, frames + at, RTE_MIN(n - at, (unsigned)RECEIVE_BURST));
    return n;
}

unsigned receive_poll(struct receive *r)
{
    unsigned frames = 0;

    r->full = false;
    for (unsigned i = 0; i < r->queues; i++)
        frames += poll_queue(r, r->queue[i].port, r->queue[i].queue);
    return frames;
}
