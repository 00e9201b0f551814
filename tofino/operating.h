/* Operators of swagg-tofino, on the same socket as the daemon's (operator/operators.h). Their thread reads
 * and answers; what they ask for is done by the thread that serves workers, whose functions these are.
 */
#ifndef SWAGG_TOFINO_OPERATING_H
#define SWAGG_TOFINO_OPERATING_H

#include "helper.h"
#include "operator/common_commands.h"
#include "shown.h"

struct operating;

/* NULL after logging: no memory, or no socket. shown: but for its time; outlives it. */
struct operating *operating_start(struct shown *shown, const struct common_host *host, struct helper *helper);
/* Also while an operator waits. o may be NULL. */
void operating_stop(struct operating *o);

int operating_fd(const struct operating *o); /* readable: operating_serve has something to do */
void operating_serve(struct operating *o);

/* The helper's answer. False: it is not to what an operator has asked for. */
bool operating_answered(struct operating *o, uint64_t id, const json_t *answer);

#endif
