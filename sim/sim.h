/* Discrete events: a clock, and what happens when. Events at the same time happen in the order in which they
 * were scheduled, so a run is decided by its input alone. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define US UINT64_C(1000)
#define MS (1000 * US)
#define S  (1000 * MS)

typedef void sim_handler(void *ctx, uint64_t argument);

struct sim_event {
    uint64_t at, order;
    sim_handler *handler;
    void *ctx;
    uint64_t argument;
};

struct sim {
    uint64_t now;    /* ns */
    uint64_t events; /* that have happened */
    uint64_t scheduled;
    struct sim_event *heap;
    size_t size, room;
    FILE *trace; /* NULL: no trace */
};

void sim_init(struct sim *sim, FILE *trace);
void sim_fini(struct sim *sim);

/* at < now means now. */
void sim_at(struct sim *sim, uint64_t at, sim_handler *handler, void *ctx, uint64_t argument);

/* Rings at the earliest time that it was set to; then it may be set to a later one. */
struct sim_alarm {
    uint64_t at; /* UINT64_MAX: it is not set, as it begins */
    void (*ring)(void *ctx);
    void *ctx;
};
void sim_alarm_set(struct sim *sim, struct sim_alarm *alarm, uint64_t at);

/* Makes the next event happen; false: there is none. */
bool sim_step(struct sim *sim);

/* A line of the trace: time, who, what. */
__attribute__((format(printf, 3, 4))) void sim_trace(const struct sim *sim, const char *who,
                                                     const char *format, ...);

/* Ends the program with a message: the simulator itself cannot go on. */
_Noreturn void sim_die(const char *why);
