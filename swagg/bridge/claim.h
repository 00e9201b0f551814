/* Another station that uses the switch's IP address, by mistake or to get the workers' gradients. Its frames
 * go no further, the operator is told, and hosts are told again which MAC address is right (RFC 5227).
 */
#ifndef SWAGG_BRIDGE_CLAIM_H
#define SWAGG_BRIDGE_CLAIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rte_common.h>

#include "net/mac.h"

/* The station that claimed it last, in one word that any lcore writes and the main lcore takes; 0: none. */
struct claim {
    uint64_t word;
} __rte_cache_aligned;

/* Any lcore. */
void claim_note(struct claim *c, const struct net_mac *station, uint8_t port);

/* The last claim; false: there was none since the last call. The main lcore. */
bool claim_take(struct claim *c, struct net_mac *station, uint8_t *port);

#endif
