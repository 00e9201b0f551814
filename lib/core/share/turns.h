/* Which of several flows may be served now, by somebody who cannot serve them all at once. As in deficit
 * round robin (Shreedhar and Varghese, "Efficient Fair Queueing Using Deficit Round Robin", section 3), a
 * flow is served for a number of bytes in each turn, its quantum, so that flows which always have something
 * are served in proportion to their quanta, whatever the length of their packets. But flows need not be
 * served one after another: a turn is one of all flows, and in it each is served as its packets come, for a
 * quantum, and for up to another one on account of the next turn. So flows whose packets come about as often
 * as their quanta say never have to wait.
 *
 * A turn ends when every flow that takes part has used up its quantum, or by share_turns_next. A flow takes
 * part from when it asks until it has asked for nothing in SHARE_TURNS_QUIET turns. What it has not used in
 * one turn it does not have in the next; what it has used of the next turn's quantum it owes.
 *
 * Between two moments, what flows that always had something were served, each divided by its quantum, differs
 * by less than four quanta and a packet of each.
 *
 * Pure; packets that wait are the caller's. One thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum {
    SHARE_FLOWS = 2048,
    /* Long enough that others wait for one whose packets come now and then, so that these are found soon
     * among those of a flow that has too many. */
    SHARE_TURNS_QUIET = 256,
};

struct share_flow {
    int32_t left;    /* bytes of its quantum; negative: of the next one it has had so many */
    int32_t quantum; /* when it asked last */
    uint16_t stays;  /* for so many turns it takes part, this one included; 0: it does not */
};

struct share_turns {
    unsigned n;                       /* flows that take part */
    unsigned behind;                  /* those of them that have something left of their quanta */
    uint16_t takes_part[SHARE_FLOWS]; /* the n */
    struct share_flow flow[SHARE_FLOWS];
};

void share_turns_init(struct share_turns *t);

/* For share_turns_ask: the flow takes part from now on, or with another quantum. */
void share_turns_join(struct share_turns *t, unsigned flow, uint32_t quantum);

/* The flow (0 .. SHARE_FLOWS - 1) has a packet; whether that may be served now. quantum: 1 .. 2^30 bytes. If
 * it is another than before, the flow owes, or has left, no more than one of those. */
static inline bool share_turns_ask(struct share_turns *t, unsigned flow, uint32_t quantum)
{
    struct share_flow *f = &t->flow[flow];

    if (f->stays == 0 || f->quantum != (int32_t)quantum)
        share_turns_join(t, flow, quantum);
    f->stays = SHARE_TURNS_QUIET + 1;
    return f->left > -f->quantum;
}

/* Ends the turn: nobody who has something left of his quantum has asked in vain. */
void share_turns_next(struct share_turns *t);

/* The flow, which may be, is served a packet of at most 2^20 bytes. */
static inline void share_turns_serve(struct share_turns *t, unsigned flow, uint32_t bytes)
{
    struct share_flow *f = &t->flow[flow];
    const bool was_behind = f->left > 0;

    f->left -= (int32_t)bytes;
    if (was_behind && f->left <= 0 && --t->behind == 0)
        share_turns_next(t);
}
