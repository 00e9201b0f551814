/* What an lcore does while nothing comes: it spins for a while, then naps, the longer the pause the longer
 * the nap, up to a bound. A frame that comes meanwhile ends the nap, if its port has something to wait on.
 * Other lcores' rings have not, so for them the bound counts. While other programs, or other switches'
 * lcores, want the CPU it spins for some microseconds only.
 *
 * Threads: a struct idle is one lcore's.
 */
#ifndef SWAGG_LCORE_IDLE_H
#define SWAGG_LCORE_IDLE_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>

#include "lcore/offer.h"
#include "lcore/receive.h"

/* How an lcore spends its idle time. */
struct lcore_pace {
    uint32_t spin;          /* rounds without work before the first nap */
    uint32_t max_sleep_us;  /* 0: it never naps */
    bool alone;             /* no other lcore hands it anything */
    uint64_t cycles_per_ms; /* of the TSC */
    uint64_t stall;         /* TSC cycles without a round that count as a stall */
};

struct idle {
    uint32_t rounds;    /* without work, in a row */
    uint64_t began_ns;  /* when the pause did */
    uint64_t since_ns;  /* when the first nap of this pause began; 0: it has not napped yet */
    struct offer offer; /* of its CPU, while it spins */
    bool frames_wake;   /* a frame ends a nap on whatever queue it comes */
    unsigned fds;
    struct pollfd fd[SWAGG_MAX_PORTS * SWAGG_MAX_QUEUES]; /* readable when frames wait */
};

/* receive: what the lcore receives from. */
void idle_init(struct idle *idle, const struct receive *receive);

/* After a round without work: false if it is time for a nap. */
bool idle_spin(struct idle *idle, const struct lcore_pace *pace);

/* How long the next nap may be. frames_only: nothing gives the lcore work but frames that it receives. */
uint64_t idle_nap_ns(struct idle *idle, const struct lcore_pace *pace, bool frames_only);

/* Returns when that is over, or a frame has come. */
void idle_nap(struct idle *idle, uint64_t ns);

/* After a round with work. */
void idle_end(struct idle *idle);

#endif
