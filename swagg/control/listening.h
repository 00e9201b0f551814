/* The registry's clock: it runs only while the switch can hear its members.
 *
 * A member that was not heard is silent only if somebody listened. So time does not count while a receiving
 * lcore makes no rounds (other programs had its CPU, it was stopped), nor while nobody asks this clock: the
 * main lcore, which does, stood still itself. Naps between rounds are no pauses.
 *
 * Pure: the machine's time is the caller's. One thread.
 */
#ifndef SWAGG_CONTROL_LISTENING_H
#define SWAGG_CONTROL_LISTENING_H

#include <stdint.h>

#include "config/placement.h"

struct listening {
    uint64_t pause_ns; /* so much of a pause counts, since the switch may just be slow */
    uint64_t time;     /* by this clock */
    uint64_t asked_at; /* by the machine's */
    struct {
        uint64_t rounds;   /* when last looked at */
        uint64_t moved_at; /* when they were first seen to be so many, by the machine's clock */
    } receiver[SWAGG_MAX_LCORES];
};

/* now: of the machine's clock, ns, monotonic; this one starts with it. */
void listening_init(struct listening *l, uint64_t pause_ns, uint64_t now);

/* What this clock shows: ns, monotonic. To be asked much more often than every pause_ns. rounds: how many
 * each of the receiving lcores has made; always the same lcores. */
uint64_t listening_time(struct listening *l, const uint64_t rounds[], unsigned receivers, uint64_t now);

#endif
