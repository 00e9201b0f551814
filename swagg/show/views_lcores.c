/* Views of the polling lcores. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lcore/stalls.h"
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

static void write_tasks(const struct show_parts *parts, const struct lcore *lc, struct writer *w)
{
    char name[PORT_QUEUE_NAME_MAX];
    struct port_queue_id queue[PORT_QUEUES_MAX];
    unsigned n = lcore_rx_queues(lc, queue);

    writer_number(w, "lcore", lc->eal_id);
    writer_number(w, "cpu", (uint64_t)lcore_cpu(lc));
    writer_texts(w, "rx");
    for (unsigned i = 0; i < n; i++) {
        const struct port *port = &parts->port[queue[i].port];

        writer_text(w, NULL, port_queue_name(name, port, port->rx_queues, queue[i].queue));
    }
    writer_end(w);
    writer_texts(w, "tx");
    n = lcore_tx_queues(lc, queue);
    for (unsigned i = 0; i < n; i++) {
        const struct port *port = &parts->port[queue[i].port];

        writer_text(w, NULL, port_queue_name(name, port, port->tx_queues, queue[i].queue));
    }
    writer_end(w);
    writer_number(w, "shards", (uint64_t)__builtin_popcountll(lc->shards));
}

int view_lcores(const struct show_parts *parts, const char *name, struct writer *w)
{
    static const enum event shown[] = {EVENT_RECEIVED,    EVENT_GRADIENTS, EVENT_ROUNDS,
                                       EVENT_BUSY_ROUNDS, EVENT_SLEEPS,    EVENT_STALLS};

    (void)name;
    writer_table(w, "lcores");
    for (unsigned i = 0; i < parts->lcores->n; i++) {
        const struct lcore *lc = parts->lcores->lcore[i];

        writer_row(w);
        write_tasks(parts, lc, w);
        writer_number(w, "busy_percent", lcore_busy_percent(lc));
        for (unsigned e = 0; e < RTE_DIM(shown); e++)
            writer_counter(w, event_name(shown[e]), counter_read(&lc->counters.event[shown[e]]));
        writer_end(w);
    }
    writer_end(w);
    return 0;
}

/* A thread's times; 0 if the kernel does not tell them. */
static void write_times(const struct lcore *lc, struct writer *w)
{
    struct stall_times times = {0};

    stall_times(lc, &times);
    writer_counter(w, "ran_ms", times.ran_ns / 1000000);
    writer_counter(w, "waited_ms", times.waited_ns / 1000000);
}

int view_lcore(const struct show_parts *parts, const char *name, struct writer *w)
{
    const struct lcore *lc = name == NULL ? NULL : find_lcore(parts, name);

    if (lc == NULL)
        return name == NULL ? -EINVAL : -ENOENT;
    write_tasks(parts, lc, w);
    writer_number(w, "busy_percent", lcore_busy_percent(lc));
    for (enum event e = 0; e < EVENTS; e++)
        writer_counter(w, event_name(e), counter_read(&lc->counters.event[e]));
    write_times(lc, w);
    return 0;
}
