/* All lcores of the switch, and what they have counted together.
 *
 * Threads: set before the start, then only read. Any thread may ask for the sums; they may lack what is being
 * counted at that moment.
 */
#pragma once

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

/* What it takes to change impairments of a port while it runs. The main lcore. */
struct impairing {
    struct port *port;
    const uint64_t *ports; /* atomic: bit p: there is a port p */
    const struct lcores *lcores;
    struct rte_rcu_qsbr *rcu;         /* where polling lcores report that they hold nothing */
    struct net_mac mac;               /* the switch's; the struct outlives the ports */
    struct rte_mempool *long_buffers; /* of frames that came merged; NULL: none are carried so */
};

/* Impairs what a port receives, and what it sends, in the place of what was before: NULL leaves that as it
 * is. hold_for in microseconds. What had been held back is dropped. */
void impairing_change(const struct impairing *i, unsigned port, const struct impair_config *rx,
                      const struct impair_config *tx, uint64_t seed);
