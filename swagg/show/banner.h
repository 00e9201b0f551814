/* The lines that the log gets once everything runs: addresses, ports, which lcore does what, and "ready". */
#ifndef SWAGG_SHOW_BANNER_H
#define SWAGG_SHOW_BANNER_H

#include "show/parts.h"

void banner_ready(const struct show_parts *parts);

#endif
