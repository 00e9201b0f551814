/* Ports that an operator adds and removes.
 *
 * Threads: actions of the main lcore's.
 */
#ifndef SWAGG_OPERATOR_ACTIONS_PORT_H
#define SWAGG_OPERATOR_ACTIONS_PORT_H

#include "commands/actions.h"

/* The request of the first has "port" and "device", as in the configuration, and "settings": rx_queues,
 * tx_queues, vlan. */
action_fn port_add, port_delete;

#endif
