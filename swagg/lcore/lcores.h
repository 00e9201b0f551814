/* All lcores of the switch, and what they have counted together.
 *
 * Threads: set before the start, then only read. Any thread may ask for the sums; they may lack what is being
 * counted at that moment.
 */
#ifndef SWAGG_LCORE_LCORES_H
#define SWAGG_LCORE_LCORES_H

#include "lcore/lcore.h"

struct lcores {
    unsigned n;                                /* that poll */
    struct lcore *lcore[SWAGG_MAX_LCORES + 1]; /* the last in use, [n], is the main lcore's */
};

static inline struct lcore *lcores_main(const struct lcores *lcores)
{
    return lcores->lcore[lcores->n];
}

/* Has those that poll look at what has changed. Any thread. */
void lcores_wake(const struct lcores *lcores);

/* The main one included. kind: drop_kind, or enum drop; protocol: enum agg_protocol_id. */
uint64_t lcores_drops(const struct lcores *lcores, unsigned port, unsigned kind);
uint64_t lcores_events(const struct lcores *lcores, enum event event);
uint64_t lcores_verdicts(const struct lcores *lcores, unsigned protocol, unsigned reason);
uint64_t lcores_uplink(const struct lcores *lcores, unsigned uplink, enum uplink_count count);

#endif
