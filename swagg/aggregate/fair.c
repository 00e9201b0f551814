#include "aggregate/fair.h"

#include <rte_prefetch.h>

void fair_init(struct fair *f)
{
    f->held = 0;
    share_turns_init(&f->turns);
    for (unsigned q = 0; q < SHARE_FLOWS; q++)
        f->queue[q].n = 0;
    for (unsigned i = 0; i < FAIR_PLACES; i++)
        f->place[i].next = (uint16_t)(i + 1);
    f->unused = 0;
}

bool fair_put(struct fair *f, unsigned flow, struct rte_mbuf *m)
{
    const uint16_t at = f->unused;

    if (f->queue[flow].n >= 2 * (FAIR_PLACES - f->held))
        return false;
    f->unused = f->place[at].next;
    f->place[at].frame = m;
    f->place[at].cost = (uint16_t)RTE_MIN(m->pkt_len + FAIR_FRAME_BYTES, (uint32_t)UINT16_MAX);
    if (f->queue[flow].n++ == 0)
        f->queue[flow].first = at;
    else
        f->place[f->queue[flow].last].next = at;
    f->queue[flow].last = at;
    f->held++;
    share_turns_wait(&f->turns, flow);
    return true;
}

/* What it takes to serve the flow's first frame; 0: none waits. */
static uint32_t cost(const struct fair *f, unsigned flow)
{
    if (f->queue[flow].n == 0)
        return 0;
    return f->place[f->queue[flow].first].cost;
}

static struct rte_mbuf *take_one(struct fair *f, unsigned flow)
{
    const uint16_t at = f->queue[flow].first;

    f->queue[flow].first = f->place[at].next;
    rte_prefetch0(rte_pktmbuf_mtod(f->place[at].frame, const void *));
    f->queue[flow].n--;
    f->held--;
    f->place[at].next = f->unused;
    f->unused = at;
    return f->place[at].frame;
}

unsigned fair_take(struct fair *f, uint32_t quantum, struct rte_mbuf *frames[], unsigned n)
{
    const unsigned flow = fair_flow(f);
    const uint32_t left = share_turns_left(&f->turns, quantum);
    uint32_t served = 0, next = cost(f, flow);
    unsigned taken = 0;

    while (taken < n && next != 0 && next <= left - served) {
        served += next;
        frames[taken++] = take_one(f, flow);
        next = cost(f, flow);
    }
    share_turns_served(&f->turns, served, next);
    return taken;
}
