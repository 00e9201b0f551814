/* Impairments of a port, changed while it runs.
 *
 * Threads: the main lcore's; it waits for a round of the polling lcores.
 */
#ifndef SWAGG_LCORE_IMPAIRING_H
#define SWAGG_LCORE_IMPAIRING_H

#include "lcore/lcores.h"
#include "port/port.h"

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

#endif
