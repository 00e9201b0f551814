#include "sim.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "exit_status.h"

_Noreturn void sim_die(const char *why)
{
    fprintf(stderr, "swagg-sim: %s\n", why);
    exit(EXIT_BAD);
}

void sim_init(struct sim *sim, FILE *trace)
{
    *sim = (struct sim){.trace = trace};
}

void sim_fini(struct sim *sim)
{
    free(sim->heap);
}

static bool before(const struct sim_event *a, const struct sim_event *b)
{
    return a->at != b->at ? a->at < b->at : a->order < b->order;
}

void sim_at(struct sim *sim, uint64_t at, sim_handler *handler, void *ctx, uint64_t argument)
{
    struct sim_event e = {at > sim->now ? at : sim->now, sim->scheduled++, handler, ctx, argument};

    if (sim->size == sim->room) {
        sim->room = sim->room ? 2 * sim->room : 256;
        sim->heap = realloc(sim->heap, sim->room * sizeof(*sim->heap));
        if (sim->heap == NULL)
            sim_die("out of memory");
    }
    size_t i = sim->size++;
    for (; i > 0 && before(&e, &sim->heap[(i - 1) / 2]); i = (i - 1) / 2)
        sim->heap[i] = sim->heap[(i - 1) / 2];
    sim->heap[i] = e;
}

static void on_alarm(void *ctx, uint64_t at)
{
    struct sim_alarm *alarm = ctx;

    if (at != alarm->at)
        return; /* an earlier one has come before */
    alarm->at = UINT64_MAX;
    alarm->ring(alarm->ctx);
}

void sim_alarm_set(struct sim *sim, struct sim_alarm *alarm, uint64_t at)
{
    if (at >= alarm->at)
        return;
    alarm->at = at;
    sim_at(sim, at, on_alarm, alarm, at);
}

static struct sim_event take_first(struct sim *sim)
{
    struct sim_event first = sim->heap[0], last = sim->heap[--sim->size];
    size_t i = 0;

    for (;;) {
        size_t child = 2 * i + 1;
        if (child + 1 < sim->size && before(&sim->heap[child + 1], &sim->heap[child]))
            child++;
        if (child >= sim->size || !before(&sim->heap[child], &last))
            break;
        sim->heap[i] = sim->heap[child];
        i = child;
    }
    sim->heap[i] = last;
    return first;
}

bool sim_step(struct sim *sim)
{
    if (sim->size == 0)
        return false;
    struct sim_event e = take_first(sim);
    sim->now = e.at;
    sim->events++;
    e.handler(e.ctx, e.argument);
    return true;
}

void sim_trace(const struct sim *sim, const char *who, const char *format, ...)
{
    va_list args;

    if (sim->trace == NULL)
        return;
    fprintf(sim->trace, "%6" PRIu64 ".%06" PRIu64 " ms  #%-7" PRIu64 " %-10s ", sim->now / MS, sim->now % MS,
            sim->events, who);
    va_start(args, format);
    vfprintf(sim->trace, format, args);
    va_end(args);
    fputc('\n', sim->trace);
}
