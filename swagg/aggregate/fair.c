#include "aggregate/fair.h"

#include <rte_prefetch.h>

void fair_init(struct fair *f)
{
    f->held = f->lines = f->next_line = 0;
    share_turns_init(&f->turns);
    for (unsigned q = 0; q < SHARE_FLOWS; q++)
        f->line[q].n = 0;
    for (unsigned i = 0; i < FAIR_PLACES; i++)
        f->place[i].next = (uint16_t)(i + 1);
    f->unused = 0;
}

/* As the last one to be looked at. */
static void add_line(struct fair *f, unsigned flow)
{
    f->line_of[(f->next_line + f->lines++) % SHARE_FLOWS] = (uint16_t)flow;
}

bool fair_put(struct fair *f, unsigned flow, struct rte_mbuf *m)
{
    const uint16_t at = f->unused;

    if (f->line[flow].n >= 2 * (FAIR_PLACES - f->held))
        return false;
    f->unused = f->place[at].next;
    f->place[at].frame = m;
    if (f->line[flow].n++ == 0) {
        f->line[flow].first = at;
        add_line(f, flow);
    } else {
        f->place[f->line[flow].last].next = at;
    }
    f->line[flow].last = at;
    f->held++;
    return true;
}

static struct rte_mbuf *take_one(struct fair *f, unsigned flow)
{
    const uint16_t at = f->line[flow].first;

    f->line[flow].first = f->place[at].next;
    f->line[flow].n--;
    f->held--;
    f->place[at].next = f->unused;
    f->unused = at;
    rte_prefetch0(rte_pktmbuf_mtod(f->place[at].frame, const void *));
    return f->place[at].frame;
}

unsigned fair_take(struct fair *f, uint32_t quantum, struct rte_mbuf *frames[], unsigned n)
{
    const unsigned flow = fair_flow(f);
    unsigned taken = 0;

    while (taken < n && f->line[flow].n > 0 && share_turns_ask(&f->turns, flow, quantum)) {
        frames[taken] = take_one(f, flow);
        share_turns_serve(&f->turns, flow, fair_cost(frames[taken++]));
    }
    f->next_line = (f->next_line + 1) % SHARE_FLOWS;
    f->lines--;
    if (f->line[flow].n > 0)
        add_line(f, flow);
    return taken;
}
