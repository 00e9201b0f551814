#include "share/turns.h"

#include <string.h>

void share_turns_init(struct share_turns *t)
{
    memset(t, 0, sizeof *t);
}

static int32_t between(int32_t low, int32_t value, int32_t high)
{
    return value < low ? low : value > high ? high : value;
}

void share_turns_join(struct share_turns *t, unsigned flow, uint32_t quantum)
{
    struct share_flow *f = &t->flow[flow];

    f->quantum = (int32_t)quantum;
    if (f->stays > 0) {
        f->left = between(-f->quantum, f->left, f->quantum);
        return;
    }
    f->left = f->quantum;
    t->takes_part[t->n++] = (uint16_t)flow;
    t->behind++;
}

/* False: it takes part no more. */
static bool begin_turn(struct share_flow *f)
{
    if (f->left <= 0 || f->stays > 1) {
        f->stays -= f->stays > 1;
        f->left = (f->left < 0 ? f->left : 0) + f->quantum;
        return true;
    }
    f->stays = 0;
    return false;
}

static void begin_turns(struct share_turns *t)
{
    unsigned n = 0;

    t->behind = 0;
    for (unsigned i = 0; i < t->n; i++) {
        const uint16_t flow = t->takes_part[i];

        if (!begin_turn(&t->flow[flow]))
            continue;
        t->takes_part[n++] = flow;
        t->behind += t->flow[flow].left > 0;
    }
    t->n = n;
}

void share_turns_next(struct share_turns *t)
{
    do
        begin_turns(t); /* of several, while all owe more than a quantum */
    while (t->n > 0 && t->behind == 0);
}
