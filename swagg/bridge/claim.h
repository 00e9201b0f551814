/* Somebody else under the switch's IP address: a station that has it by mistake, or one that wants the
 * workers' gradients. Its frames go no further, the operator is told, and hosts are told again whose the
 * address is (RFC 5227).
 */
#ifndef SWAGG_BRIDGE_CLAIM_H
#define SWAGG_BRIDGE_CLAIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rte_common.h>

#include "net/mac.h"

/* Who claimed it last, in a word that lcores write and the main one takes; 0: nobody. */
struct claim {
    uint64_t word;
} __rte_cache_aligned;

/* Any lcore. */
void claim_note(struct claim *c, const struct net_mac *station, uint8_t port);

/* False: nobody since the last call. The main lcore. */
bool claim_take(struct claim *c, struct net_mac *station, uint8_t *port);

#endif
