/* Explicit congestion notification in IPv4 headers (RFC 3168): a packet says that it can be marked, and
 * whoever has a long queue marks it instead of losing it. Pure. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "net/headers.h"
#include "net/sum.h"

enum { NET_ECN_MASK = 3, NET_ECN_CAPABLE = 2, NET_ECN_MARKED = 3 };

static inline bool net_ecn_is_marked(const struct net_ipv4 *ip)
{
    return (ip->type_of_service & NET_ECN_MASK) == NET_ECN_MARKED;
}

/* Marks a frame, if it is one of IPv4 that can be marked; the header's checksum follows. False: it was left
 * as it is. VLAN tags may precede the header. */
bool net_ecn_mark(void *frame, size_t bytes);

/* Sets the type of service, and the header's checksum with it. The header has no options. */
static inline void net_set_type_of_service(struct net_ipv4 *ip, uint8_t type)
{
    ip->type_of_service = type;
    ip->hdr_checksum = 0;
    ip->hdr_checksum = (uint16_t)~net_ipv4_sum(ip);
}
