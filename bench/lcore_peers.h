/* What bench-lcore measures in turns with an lcore. */
#pragma once

#include <stddef.h>

#include "port/port.h"

/* As testpmd does with all frames that are received now: the addresses in place, and what the frame asks of
 * the device that sends it. */
void lcore_macswap(const struct port *port);

/* A bare loop that loads, adds and stores. */
void lcore_bare_loop(float *sum, const float *payload, size_t floats);
