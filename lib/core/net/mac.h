/* Ethernet addresses, as they lie in a frame. Pure and reentrant. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct net_mac {
    uint8_t addr_bytes[6];
};

static inline bool net_same_mac(const struct net_mac *a, const struct net_mac *b)
{
    return memcmp(a, b, sizeof(*a)) == 0;
}

static inline bool net_is_group(const struct net_mac *a)
{
    return a->addr_bytes[0] & 1;
}

static inline bool net_is_broadcast(const struct net_mac *a)
{
    static const struct net_mac all = {{0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF}};

    return net_same_mac(a, &all);
}

/* 01:80:c2:00:00:00 to 0f: between neighbours only (IEEE 802.1Q, 8.6.3). */
static inline bool net_is_link_local(const struct net_mac *a)
{
    static const uint8_t prefix[] = {0x01, 0x80, 0xC2, 0x00, 0x00};

    return memcmp(a->addr_bytes, prefix, sizeof(prefix)) == 0 && a->addr_bytes[5] < 0x10;
}

/* What an address that is link-local is for. */
enum net_link_local {
    NET_BRIDGES = 0, /* the bridge group address: spanning tree */
    NET_PAUSE = 1,   /* MAC control (IEEE 802.3, Annex 31B) */
    NET_OTHERS = 2,  /* this and those above: LACP, 802.1X, LLDP, PTP, ... */
};

static inline enum net_link_local net_link_local(const struct net_mac *a)
{
    return a->addr_bytes[5] < NET_OTHERS ? (enum net_link_local)a->addr_bytes[5] : NET_OTHERS;
}

enum { NET_MAC_TEXT_MAX = 18 };

/* "02:00:00:00:00:FE"; returns text. */
const char *net_mac_text(char text[NET_MAC_TEXT_MAX], const struct net_mac *a);
