#include "config/placement.h"

#include <limits.h>
#include <string.h>

static bool same_lcore(const struct placement_lcore *a, const struct placement_lcore *b)
{
    return a->cpu == b->cpu && a->shards == b->shards && memcmp(a->rx, b->rx, sizeof(a->rx)) == 0 &&
           memcmp(a->tx, b->tx, sizeof(a->tx)) == 0;
}

bool placement_same(const struct placement *a, const struct placement *b)
{
    if (a->lcores != b->lcores || a->shards != b->shards)
        return false;
    for (unsigned l = 0; l < a->lcores; l++)
        if (!same_lcore(&a->lcore[l], &b->lcore[l]))
            return false;
    return true;
}

static unsigned count_queues(const uint32_t queues[], unsigned ports)
{
    unsigned sum = 0;

    for (unsigned port = 0; port < ports; port++)
        sum += queues[port];
    return sum;
}

/* Deals a port's queues to different lcores, and the ports' first queues, too. */
static void deal_queues(struct placement *p, const struct placement_ports *ports, unsigned port)
{
    for (unsigned q = 0; q < ports->rx_queues[port]; q++)
        p->lcore[(port + q) % p->lcores].rx[q] |= UINT64_C(1) << port;
    for (unsigned q = 0; q < ports->tx_queues[port]; q++)
        p->lcore[(port + q) % p->lcores].tx[q] |= UINT64_C(1) << port;
}

void placement_default(struct placement *p, unsigned cpus, const struct placement_ports *ports)
{
    const unsigned queues = count_queues(ports->rx_queues, ports->ports);
    unsigned lcores = cpus / 2 < queues ? cpus / 2 : queues;

    if (lcores > SWAGG_MAX_LCORES)
        lcores = SWAGG_MAX_LCORES;
    memset(p, 0, sizeof(*p));
    p->lcores = lcores > 0 ? lcores : 1;
    p->shards = p->lcores;
    for (unsigned l = 0; l < p->lcores; l++) {
        p->lcore[l].cpu = PLACEMENT_ANY_CPU;
        p->lcore[l].shards = UINT64_C(1) << l;
    }
    for (unsigned port = 0; port < ports->ports; port++)
        deal_queues(p, ports, port);
}

uint64_t placement_with_queue(const uint32_t queues[SWAGG_MAX_PORTS], unsigned q)
{
    uint64_t with = 0;

    for (unsigned port = 0; port < SWAGG_MAX_PORTS; port++)
        with |= (uint64_t)(queues[port] > q) << port;
    return with;
}

static unsigned lcores_on(const struct placement *p, int cpu)
{
    unsigned n = 0;

    for (unsigned l = 0; l < p->lcores; l++)
        n += p->lcore[l].cpu == cpu;
    return n;
}

/* From cpu[1] on, cpu[0] last, if that may be used. */
static int least_crowded(const struct placement *p, const int cpu[], unsigned cpus, const unsigned others[])
{
    unsigned best = 1 % cpus, least = UINT_MAX;
    bool free = false; /* of other processes' threads */

    for (unsigned i = 1; i < cpus; i++) {
        const unsigned load = others[i] + lcores_on(p, cpu[i]);

        free |= others[i] == 0;
        if (load < least) {
            best = i;
            least = load;
        }
    }
    return !free && others[0] + lcores_on(p, cpu[0]) < least ? cpu[0] : cpu[best];
}

void placement_pin(struct placement *p, const int cpu[], unsigned cpus, const unsigned others[])
{
    for (unsigned l = 0; l < p->lcores; l++)
        if (p->lcore[l].cpu == PLACEMENT_ANY_CPU)
            p->lcore[l].cpu = least_crowded(p, cpu, cpus, others);
}

int placement_find_stray(const struct placement *p, const int cpu[], unsigned cpus)
{
    for (unsigned l = 0; l < p->lcores; l++) {
        unsigned i = 0;

        while (i < cpus && cpu[i] != p->lcore[l].cpu)
            i++;
        if (i == cpus)
            return (int)l;
    }
    return -1;
}

static int first_queue(const uint64_t ports[SWAGG_MAX_QUEUES], unsigned port)
{
    for (int q = 0; q < SWAGG_MAX_QUEUES; q++)
        if (ports[q] >> port & 1)
            return q;
    return -1;
}

int placement_rx_queue(const struct placement_lcore *l, unsigned port)
{
    return first_queue(l->rx, port);
}

int placement_tx_queue(const struct placement_lcore *l, unsigned port)
{
    return first_queue(l->tx, port);
}

/* How many queues an lcore has in one direction. */
static unsigned load(const uint64_t ports[SWAGG_MAX_QUEUES])
{
    unsigned n = 0;

    for (unsigned q = 0; q < SWAGG_MAX_QUEUES; q++)
        n += (unsigned)__builtin_popcountll(ports[q]);
    return n;
}

static uint64_t *queues_of(struct placement_lcore *l, bool sends)
{
    return sends ? l->tx : l->rx;
}

/* The lcore that gets one more queue. If no lcore has any, all may have some. */
static struct placement_lcore *least_loaded(struct placement *p, bool sends)
{
    struct placement_lcore *best = NULL;
    bool any = false;

    for (unsigned l = 0; l < p->lcores; l++)
        any |= load(queues_of(&p->lcore[l], sends)) > 0;
    for (unsigned l = 0; l < p->lcores; l++) {
        const unsigned has = load(queues_of(&p->lcore[l], sends));

        if ((has > 0 || !any) && (best == NULL || has < load(queues_of(best, sends))))
            best = &p->lcore[l];
    }
    return best;
}

static void follow(struct placement *p, const uint32_t queues[SWAGG_MAX_PORTS], bool sends)
{
    for (unsigned q = 0; q < SWAGG_MAX_QUEUES; q++) {
        const uint64_t there = placement_with_queue(queues, q);
        uint64_t dealt = 0;

        for (unsigned l = 0; l < p->lcores; l++)
            dealt |= queues_of(&p->lcore[l], sends)[q] &= there;
        for (uint64_t left = there & ~dealt; left != 0; left &= left - 1)
            queues_of(least_loaded(p, sends), sends)[q] |= left & -left;
    }
}

void placement_follow(struct placement *p, const struct placement_ports *ports)
{
    follow(p, ports->rx_queues, false);
    follow(p, ports->tx_queues, true);
}
