#include "share/turns.h"

#include <string.h>

void share_turns_init(struct share_turns *t)
{
    memset(t, 0, sizeof *t);
    t->first = t->last = SHARE_NOBODY;
}

static void append(struct share_turns *t, uint16_t flow)
{
    t->flow[flow].next = SHARE_NOBODY;
    if (t->first == SHARE_NOBODY)
        t->first = flow;
    else
        t->flow[t->last].next = flow;
    t->last = flow;
}

void share_turns_wait(struct share_turns *t, unsigned flow)
{
    if (t->flow[flow].waits)
        return;
    t->flow[flow].waits = true;
    append(t, (uint16_t)flow);
}

uint32_t share_turns_left(struct share_turns *t, uint32_t quantum)
{
    if (!t->flow[t->first].in_turn) {
        t->flow[t->first].in_turn = true;
        t->flow[t->first].left += quantum;
    }
    return t->flow[t->first].left;
}

void share_turns_served(struct share_turns *t, uint32_t bytes, uint32_t next)
{
    const uint16_t flow = t->first;

    t->flow[flow].left -= bytes;
    if (next != 0 && next <= t->flow[flow].left)
        return;
    t->first = t->flow[flow].next;
    t->flow[flow].in_turn = false;
    if (next != 0) {
        append(t, flow);
        return;
    }
    t->flow[flow].waits = false;
    t->flow[flow].left = 0;
}
