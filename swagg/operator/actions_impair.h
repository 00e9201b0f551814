/* Impairments of a port, changed while it runs.
 *
 * Threads: the first of each pair is an action of the main lcore's, the second follows on the operators'
 * thread.
 */
#ifndef SWAGG_OPERATOR_ACTIONS_IMPAIR_H
#define SWAGG_OPERATOR_ACTIONS_IMPAIR_H

#include "operator/actions.h"

/* The request has the port's "name", "direction" (rx, tx; not given: both) and "settings": numbers by the
 * keys of the configuration's group impair. */
action_fn impairments_set, impairments_clear;

/* Drops what the impairments before had held back. */
action_fn impairments_settle;

#endif
