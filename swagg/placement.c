#include "placement.h"

#include <stddef.h>
#include <string.h>

void placement_default(struct placement *p, unsigned cpus, unsigned ports)
{
    unsigned lcores = cpus / 4 < ports ? cpus / 4 : ports;

    memset(p, 0, sizeof(*p));
    p->lcores = lcores > 0 ? lcores : 1;
    p->shards = p->lcores;
    for (unsigned l = 0; l < p->lcores; l++) {
        p->lcore[l].cpu = PLACEMENT_ANY_CPU;
        p->lcore[l].shards = UINT64_C(1) << l;
    }
    for (unsigned port = 0; port < ports; port++) {
        struct placement_lcore *l = &p->lcore[port % p->lcores];

        l->rx |= UINT64_C(1) << port;
        l->tx |= UINT64_C(1) << port;
    }
}

/* Findings are counted beyond max, so that the caller learns how many there are. */
struct findings {
    struct placement_finding *list;
    unsigned count, max;
};

static void add_finding(struct findings *f, enum placement_fault fault, unsigned index, unsigned lcore)
{
    if (f->count < f->max)
        f->list[f->count] = (struct placement_finding){.fault = fault, .index = index, .lcore = lcore};
    f->count++;
}

/* The faults of one kind of task; none, twice: what to call them. */
struct task {
    size_t offset; /* of its word in struct placement_lcore */
    unsigned count;
    enum placement_fault none, twice;
};

static uint64_t task_word(const struct placement_lcore *l, size_t offset)
{
    uint64_t word;

    memcpy(&word, (const char *)l + offset, sizeof(word));
    return word;
}

static void check_task(const struct placement *p, const struct task *t, struct findings *f)
{
    uint64_t owned = 0;

    for (unsigned l = 0; l < p->lcores; l++) {
        uint64_t word = task_word(&p->lcore[l], t->offset);

        for (unsigned i = 0; i < 64; i++) {
            if (!(word >> i & 1))
                continue;
            if (i >= t->count)
                add_finding(f, PLACEMENT_UNKNOWN, i, l);
            else if (owned >> i & 1)
                add_finding(f, t->twice, i, l);
        }
        owned |= word;
    }
    for (unsigned i = 0; i < t->count; i++) {
        if (!(owned >> i & 1))
            add_finding(f, t->none, i, 0);
    }
}

unsigned placement_check(const struct placement *p, unsigned ports, struct placement_finding findings[],
                         unsigned max)
{
    const struct task tasks[] = {
        {offsetof(struct placement_lcore, rx), ports, PLACEMENT_RX_NONE, PLACEMENT_RX_TWICE},
        {offsetof(struct placement_lcore, tx), ports, PLACEMENT_TX_NONE, PLACEMENT_TX_TWICE},
        {offsetof(struct placement_lcore, shards), p->shards, PLACEMENT_SHARD_NONE, PLACEMENT_SHARD_TWICE},
    };
    struct findings f = {.list = findings, .max = max};

    for (size_t t = 0; t < sizeof(tasks) / sizeof(tasks[0]); t++)
        check_task(p, &tasks[t], &f);
    for (unsigned l = 0; l < p->lcores; l++) {
        if ((p->lcore[l].rx | p->lcore[l].tx | p->lcore[l].shards) == 0)
            add_finding(&f, PLACEMENT_IDLE, 0, l);
    }
    return f.count;
}

void placement_pin(struct placement *p, const int cpu[], unsigned cpus)
{
    unsigned next = 0;

    for (unsigned l = 0; l < p->lcores; l++) {
        if (p->lcore[l].cpu != PLACEMENT_ANY_CPU)
            continue;
        p->lcore[l].cpu = cpus > 1 ? cpu[1 + next++ % (cpus - 1)] : cpu[0];
    }
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

static unsigned owner(const struct placement *p, size_t offset, unsigned bit)
{
    unsigned l = 0;

    while (!(task_word(&p->lcore[l], offset) >> bit & 1))
        l++;
    return l;
}

unsigned placement_rx_owner(const struct placement *p, unsigned port)
{
    return owner(p, offsetof(struct placement_lcore, rx), port);
}

unsigned placement_tx_owner(const struct placement *p, unsigned port)
{
    return owner(p, offsetof(struct placement_lcore, tx), port);
}

unsigned placement_shard_owner(const struct placement *p, unsigned shard)
{
    return owner(p, offsetof(struct placement_lcore, shards), shard);
}
