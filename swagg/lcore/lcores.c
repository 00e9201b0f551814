#include "lcore/lcores.h"

#include <errno.h>

void lcores_wake(const struct lcores *lcores)
{
    for (unsigned i = 0; i < lcores->n; i++)
        if (lcores->lcore[i] != NULL)
            bell_ring(&lcores->lcore[i]->bell);
}

uint64_t lcores_drops(const struct lcores *lcores, unsigned port, unsigned kind)
{
    uint64_t sum = 0;

    for (unsigned i = 0; i <= lcores->n; i++)
        sum += counter_read(&lcores->lcore[i]->counters.drop[port][kind]);
    return sum;
}

uint64_t lcores_events(const struct lcores *lcores, enum event event)
{
    uint64_t sum = 0;

    for (unsigned i = 0; i <= lcores->n; i++)
        sum += counter_read(&lcores->lcore[i]->counters.event[event]);
    return sum;
}

uint64_t lcores_verdicts(const struct lcores *lcores, unsigned protocol, unsigned reason)
{
    uint64_t sum = 0;

    for (unsigned i = 0; i <= lcores->n; i++)
        sum += counter_read(&lcores->lcore[i]->counters.verdict[protocol][reason]);
    return sum;
}

uint64_t lcores_uplink(const struct lcores *lcores, unsigned uplink, enum uplink_count count)
{
    uint64_t sum = 0;

    for (unsigned i = 0; i <= lcores->n; i++)
        sum += counter_read(&lcores->lcore[i]->counters.uplink[uplink][count]);
    return sum;
}

/* NULL: all are cut. */
static void carry_merged(const struct impairing *i, struct rte_mempool *long_buffers)
{
    port_carry_merged(i->port, ports_there(i->ports), &i->mac, long_buffers);
}

/* Which ports an lcore must look after even if nothing is to be sent, since frames may be held back. */
static void note_sender(const struct impairing *im, unsigned p, bool active)
{
    for (unsigned i = 0; i < im->lcores->n; i++) {
        struct lcore *lc = im->lcores->lcore[i];
        struct send *s = &lc->send;

        if (placement_tx_queue(&lc->tasks->queues, p) >= 0)
            __atomic_store_n(&s->impaired, active ? s->impaired | RTE_BIT64(p) : s->impaired & ~RTE_BIT64(p),
                             __ATOMIC_RELAXED);
    }
}

void impairing_change(const struct impairing *i, unsigned p, const struct impair_config *rx,
                      const struct impair_config *tx, uint64_t seed)
{
    const struct port_impair_seed of_rx = {seed, p * 2}, of_tx = {seed, p * 2 + 1};
    struct port *port = &i->port[p];

    if ((rx != NULL && impair_active(rx)) || (tx != NULL && impair_active(tx)))
        carry_merged(i, NULL); /* before the first is impaired */
    if (rx != NULL)
        port_impair(port->rx, port->rx_queues, rx, &of_rx);
    if (tx != NULL) {
        port_impair(port->tx, port->tx_queues, tx, &of_tx);
        note_sender(i, p, impair_active(tx));
    }
    rte_rcu_qsbr_synchronize(i->rcu, RTE_QSBR_THRID_INVALID);
    port_settle(port->rx, port->rx_queues);
    port_settle(port->tx, port->tx_queues);
    carry_merged(i, i->long_buffers); /* again, after the last was impaired */
}
