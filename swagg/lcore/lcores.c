#include "lcore/lcores.h"

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
