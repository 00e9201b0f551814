/* The main lcore's work while the others poll: control messages, timers, signals. It sleeps in between.
 *
 * Threads: everything here is the main lcore's.
 */
#ifndef SWAGG_CONTROL_CONTROL_H
#define SWAGG_CONTROL_CONTROL_H

#include "control/registrar.h"
#include "datapath.h"

struct control;

/* *c is NULL on error, which was logged. Signals must be blocked (signals.h). */
int control_open(struct control **c, struct datapath *dp, struct registrar *registrar,
                 const struct config *cfg);
void control_close(struct control *c);

/* Until a signal comes that stops us; returns its number, or -errno after logging. */
int control_run(struct control *c);

#endif
