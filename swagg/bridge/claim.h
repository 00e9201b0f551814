/* Somebody else under the switch's IP address: a station that has it by mistake, or one that wants the
 * workers' gradients. Its frames go no further, the operator is told, and hosts are told again whose the
 * address is (RFC 5227).
 */
#ifndef SWAGG_BRIDGE_CLAIM_H
#define SWAGG_BRIDGE_CLAIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rte_ether.h>

/* Does a frame, untagged and at least an Ethernet header long, name this address as its sender's: as the
 * source of an IPv4 packet, or in ARP? Pure; what of the frame is in its first 42 bytes counts. */
bool claim_in_frame(const void *frame, size_t bytes, rte_be32_t ip);

/* Who claimed it last, in a word that lcores write and the main one takes; 0: nobody. */
struct claim {
    uint64_t word;
} __rte_cache_aligned;

/* Any lcore. */
void claim_note(struct claim *c, const struct rte_ether_addr *station, uint8_t port);

/* False: nobody since the last call. The main lcore. */
bool claim_take(struct claim *c, struct rte_ether_addr *station, uint8_t *port);

#endif
