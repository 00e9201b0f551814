/* What an lcore does while nothing comes: it spins for a while, then naps. What others leave for it ends the
 * nap (base/bell.h), and so does a frame, if its port has something to wait on. If all its ports have, the
 * nap lasts until something is due: to wake up just to look would only take the CPU from others. If some have
 * not, naps begin short and grow with the pause, up to a bound. While other programs, or other switches'
 * lcores, want the CPU it spins for some microseconds only.
 *
 * Threads: a struct idle is one lcore's.
 */
#pragma once

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/bell.h"
#include "lcore/receive.h"

/* How an lcore without work offers its CPU to other programs, by the time that its offers took. If the hosts
 * run on this machine, too, the program that the lcore waits for may be waiting for the lcore's CPU.
 *
 * One offer (sched_yield) is seldom taken while the lcore goes first (standing.h): the kernel counts its time
 * a ninth of a program's, so it takes nine offers to bring a program one turn. MPI's processes offer the CPU
 * back after every look, and two of them that share it with an lcore had a turn in 20 to 40 us each. So,
 * while somebody wants the CPU, it is offered until it is taken.
 *
 * A program that keeps it for long is computing. It would have its whole time slice at every offer, so for a
 * while it gets none.
 *
 * Pure: times are the caller's, in ns of one clock. */
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

/* How an lcore spends its idle time. */
struct lcore_pace {
    uint32_t spin;          /* rounds without work before the first nap */
    uint32_t max_sleep_us;  /* where frames may come that do not end a nap. 0: it never naps */
    uint32_t until_due_us;  /* the same where all do; it shows so often that it is alive */
    uint64_t cycles_per_ms; /* of the TSC */
    uint64_t stall;         /* TSC cycles without a round, beyond a nap, that count as a stall */
};

struct idle {
    uint32_t rounds;    /* without work, in a row */
    uint64_t began_ns;  /* when the pause did */
    uint64_t since_ns;  /* when the first nap of this pause began; 0: it has not napped yet */
    struct offer offer; /* of its CPU, while it spins */
    bool contended;     /* somebody computes on its CPU, as it spun last */
    struct bell *bell;
    bool frames_wake; /* a frame ends a nap on whatever queue it comes */
    unsigned fds;
    struct pollfd fd[1 + SWAGG_MAX_PORTS * SWAGG_MAX_QUEUES]; /* the bell's; readable when frames wait */
};

/* receive: what the lcore receives from. bell: who leaves something else for it rings that. */
void idle_init(struct idle *idle, const struct receive *receive, struct bell *bell);

/* After a round without work: false if it is time for a nap. */
bool idle_spin(struct idle *idle, const struct lcore_pace *pace);

/* How long the next nap may be. due_in_ns: until time alone gives it work; UINT64_MAX: that never does. */
uint64_t idle_nap_ns(struct idle *idle, const struct lcore_pace *pace, uint64_t due_in_ns);

/* After bell_await. Returns when that is over, a frame has come, or the bell has been rung. */
void idle_nap(struct idle *idle, uint64_t ns);

/* After a round with work. */
void idle_end(struct idle *idle);
