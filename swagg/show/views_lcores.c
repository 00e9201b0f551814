/* Views of the polling lcores. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lcore/stalls.h"
#include "monotonic.h"
#include "show/views.h"

enum { LCORE_NAME_MAX = 16 };

/* An lcore's name is its number. */
static const char *name_of(char name[LCORE_NAME_MAX], const struct lcore *lc)
{
    snprintf(name, LCORE_NAME_MAX, "%u", lc->eal_id);
    return name;
}

void view_lcore_names(const struct show_parts *parts, view_name_visitor *visit, void *context)
{
    char name[LCORE_NAME_MAX];

    for (unsigned i = 0; i < parts->lcores->n; i++)
        visit(context, name_of(name, parts->lcores->lcore[i]));
}

static const struct lcore *find_lcore(const struct show_parts *parts, const char *wanted)
{
    char name[LCORE_NAME_MAX];

    for (unsigned i = 0; i < parts->lcores->n; i++)
        if (strcmp(name_of(name, parts->lcores->lcore[i]), wanted) == 0)
            return parts->lcores->lcore[i];
    return NULL;
}

/* Names of the queues that it receives from and sends to. */
struct queue_names {
    char rx[PORT_QUEUES_MAX][PORT_QUEUE_NAME_MAX], tx[PORT_QUEUES_MAX][PORT_QUEUE_NAME_MAX];
};

static struct lcore_view see(const struct show_parts *parts, const struct lcore *lc,
                             struct queue_names *names)
{
    struct port_queue_id rx[PORT_QUEUES_MAX], tx[PORT_QUEUES_MAX];
    const struct lcore_view seen = {.lcore = lc->eal_id,
                                    .cpu = (uint64_t)lcore_cpu(lc),
                                    .rx = {lcore_rx_queues(lc, rx), names->rx[0], PORT_QUEUE_NAME_MAX},
                                    .tx = {lcore_tx_queues(lc, tx), names->tx[0], PORT_QUEUE_NAME_MAX},
                                    .shards = (uint64_t)__builtin_popcountll(lc->shards),
                                    .busy_percent = lcore_busy_percent(lc)};

    for (unsigned i = 0; i < seen.rx.n; i++)
        port_queue_name(names->rx[i], &parts->port[rx[i].port], parts->port[rx[i].port].rx_queues,
                        rx[i].queue);
    for (unsigned i = 0; i < seen.tx.n; i++)
        port_queue_name(names->tx[i], &parts->port[tx[i].port], parts->port[tx[i].port].tx_queues,
                        tx[i].queue);
    return seen;
}

int view_lcores(const struct show_parts *parts, const char *name, struct view_out *out)
{
    static const enum event counted[] = {EVENT_RECEIVED,    EVENT_GRADIENTS, EVENT_ROUNDS,
                                         EVENT_BUSY_ROUNDS, EVENT_SLEEPS,    EVENT_STALLS};
    struct view_count of[RTE_DIM(counted)];
    struct queue_names names;

    (void)name;
    for (unsigned i = 0; i < parts->lcores->n; i++) {
        const struct lcore *lc = parts->lcores->lcore[i];
        struct lcore_view row = see(parts, lc, &names);

        for (unsigned e = 0; e < RTE_DIM(counted); e++)
            of[e] =
                (struct view_count){event_name(counted[e]), counter_read(&lc->counters.event[counted[e]])};
        row.counts = (struct view_counts){RTE_DIM(counted), of};
        view_row(out, &row);
    }
    return 0;
}

int view_lcore(const struct show_parts *parts, const char *name, struct view_out *out)
{
    const struct lcore *lc = name == NULL ? NULL : find_lcore(parts, name);
    struct view_count of[EVENTS];
    struct stall_times times = {0};
    struct queue_names names;
    struct lcore_view shown;

    if (lc == NULL)
        return name == NULL ? -EINVAL : -ENOENT;
    shown = see(parts, lc, &names);
    for (enum event e = 0; e < EVENTS; e++)
        of[e] = (struct view_count){event_name(e), counter_read(&lc->counters.event[e])};
    shown.counts = (struct view_counts){EVENTS, of};
    stall_times(lc, &times); /* 0 if the kernel does not tell them */
    shown.ran_ms = times.ran_ns / NS_PER_MS;
    shown.waited_ms = times.waited_ns / NS_PER_MS;
    view_fields(out, &shown);
    return 0;
}
