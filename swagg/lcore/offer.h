/* How an lcore without work offers its CPU to other programs, by the time that its offers took. If the hosts
 * run on this machine, too, the program that the lcore waits for may be waiting for the lcore's CPU.
 *
 * One offer (sched_yield) is seldom taken: the kernel counts an lcore's time a ninth of a program's
 * (priority.c), so it takes nine offers to bring a program one turn. MPI's processes offer the CPU back
 * after every look, and two of them that share it with an lcore had a turn in 20 to 40 us each. So, while
 * somebody wants the CPU, it is offered until it is taken.
 *
 * A program that keeps it for long is computing. It would have its whole time slice at every offer, so for a
 * while it gets none.
 *
 * Pure: times are the caller's, in ns of one clock. Threads: a struct offer is one lcore's. */
#ifndef SWAGG_LCORE_OFFER_H
#define SWAGG_LCORE_OFFER_H

#include <stdbool.h>
#include <stdint.h>

struct offer {
    uint64_t offered_ns;         /* when the CPU was offered last */
    uint64_t wanted_until_ns;    /* until then it is offered until it is taken */
    uint64_t contended_until_ns; /* until then it is not offered */
    unsigned left;               /* offers of this turn */
};

/* Somebody computes on this CPU. */
static inline bool offer_is_contended(const struct offer *o, uint64_t now)
{
    return now < o->contended_until_ns;
}

/* Whether it is time for another turn of offers. */
bool offer_is_due(const struct offer *o, uint64_t now);

/* A turn begins. */
void offer_begin(struct offer *o, uint64_t now);

/* The CPU was offered, and the lcore had it again then. Whether to offer it once more. */
bool offer_again(struct offer *o, uint64_t before, uint64_t after);

#endif
