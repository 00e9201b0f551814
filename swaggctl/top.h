/* The whole switch, live: itself, its jobs by what they sum and who is late in them, ports, threads. */
#pragma once

#include "ask.h"

/* On a full screen, until the user ends it by q. Without a terminal as text, again and again, until it has
 * been printed so many times (0: without end), or cannot be. Returns the exit status. */
int top_run(const struct instance *instance, double every, unsigned long times);
