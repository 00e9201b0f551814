/* VLAN tags (IEEE 802.1Q, clause 9): two bytes of type, 0x8100, and two of tag control information, TCI,
 * between the addresses and the frame's own type. The TCI is priority (3 bits), a drop eligibility bit, and
 * the VLAN's number (12 bits); number 0 means that there is a priority only. Pure and reentrant; TCIs are in
 * the host's order here.
 */
#pragma once

#include "net/headers.h"

enum {
    NET_VLAN_IDS = 4096,
    NET_VLAN_LAST = NET_VLAN_IDS - 2, /* 4095 is reserved */
    NET_TCI_ID = NET_VLAN_IDS - 1,    /* the bits of the VLAN's number */
};

/* What a frame says of its VLAN. */
enum net_vlan_found {
    NET_UNTAGGED, /* it has no tag, or one with a priority only */
    NET_TAGGED,
    NET_TAG_SHORT,  /* it ends within the tag */
    NET_TAG_NESTED, /* there is another tag behind the first, or an outer one (IEEE 802.1ad) in front */
    NET_TAG_RESERVED,
};

struct net_vlan {
    enum net_vlan_found found;
    bool has_tag; /* which net_untag takes out */
    uint16_t tci; /* 0 without a tag */
};

/* bytes: of the frame that lie in one piece, an Ethernet header at least. */
struct net_vlan net_vlan_of(const struct net_ethernet *eth, size_t bytes);

/* Moves the addresses of a tagged frame over its tag: the frame then begins sizeof(struct net_tag) later. */
void net_untag(void *frame);

/* frame: where the tagged frame is to begin, sizeof(struct net_tag) before the untagged one. */
void net_tag(void *frame, uint16_t tci);
