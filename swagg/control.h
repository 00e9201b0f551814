/* The main lcore's work while the others poll: control messages, timers, signals. It sleeps in between.
 *
 * Threads: everything here is the main lcore's, except control_hand_over.
 */
#ifndef SWAGG_CONTROL_H
#define SWAGG_CONTROL_H

#include "datapath.h"

struct control;

/* *c is NULL on error, which was logged. SIGINT and SIGTERM must be blocked. */
int control_open(struct control **c, struct datapath *dp, const struct config *cfg);
void control_close(struct control *c);

/* Until SIGINT or SIGTERM comes; returns its number, or -errno after logging. */
int control_run(struct control *c);

#endif
