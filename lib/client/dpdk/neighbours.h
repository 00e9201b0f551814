/* Who has which IPv4 address on a link, as ARP says: whoever sends asks here, and hears when a question is
 * due. Pure; one thread at a time. Addresses in network order, times in monotonic ns. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "net/mac.h"

enum { NEIGHBOURS_MAX = 32 };

struct neighbours {
    struct neighbour {
        uint32_t ip; /* 0: nobody */
        bool known;
        struct net_mac mac;
        uint64_t heard_at, asked_at, used_at;
    } at[NEIGHBOURS_MAX];
};

/* The station that has the address; NULL: it is not known yet. *ask: it is to be asked for, now: of stations
 * that are not known a few times a second, of others now and then, for they may have been replaced. The one
 * that was used longest ago is forgotten for a new one. */
const struct net_mac *neighbours_find(struct neighbours *n, uint32_t ip, uint64_t now, bool *ask);

/* Somebody says that he has the address. Nobody who was not asked for is remembered. */
void neighbours_hear(struct neighbours *n, uint32_t ip, const struct net_mac *mac, uint64_t now);
