/* The main lcore's work while the others poll: control messages, timers, signals. It sleeps in between.
 *
 * Threads: everything here is the main lcore's.
 */
#ifndef SWAGG_CONTROL_CONTROL_H
#define SWAGG_CONTROL_CONTROL_H

#include "bridge/claim.h"
#include "control/registrar.h"

struct control;

/* What it looks after; all of it outlives it. */
struct control_parts {
    const struct lcores *lcores;
    struct port *port;
    unsigned ports;
    struct bridge *bridge;
    struct claim *claim; /* of the switch's IP, by others */
    struct inbox *inbox; /* control messages for the main lcore */
    struct registrar *registrar;
};

/* *c is NULL on error, which was logged. Signals must be blocked (signals.h). */
int control_open(struct control **c, const struct control_parts *parts, const struct config *cfg);
void control_close(struct control *c);

/* Until a signal comes that stops us; returns its number, or -errno after logging. */
int control_run(struct control *c);

#endif
