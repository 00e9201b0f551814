/* swaggctl's side of a server: its socket, on a thread of its own. */
#ifndef SWAGG_SERVER_OPERATORS_H
#define SWAGG_SERVER_OPERATORS_H

#include "ps.h"

struct operators;

/* *out: NULL if the configuration wants no socket. 0, or -errno after logging. */
int operators_start(struct operators **out, struct ps *ps);

/* NULL is fine. */
void operators_stop(struct operators *o);

#endif
