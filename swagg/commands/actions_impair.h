/* Impairments of a port, changed by an operator.
 *
 * Threads: actions of the main lcore's.
 */
#ifndef SWAGG_OPERATOR_ACTIONS_IMPAIR_H
#define SWAGG_OPERATOR_ACTIONS_IMPAIR_H

#include "commands/actions.h"

/* The request has the port's "name", "direction" (rx, tx; not given: both) and "settings": numbers by the
 * keys of the configuration's group impair. */
action_fn impairments_set, impairments_clear;

#endif
