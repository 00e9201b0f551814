#include "net/vlan.h"

enum { ADDRESSES = 2 * sizeof(struct net_mac) };

static bool is_tag(uint16_t type)
{
    return type == net16(NET_TYPE_TAG) || type == net16(NET_TYPE_OUTER_TAG);
}

/* The tag lies where the type of an untagged frame does, and the type of what it tags follows. */
struct net_vlan net_vlan_of(const struct net_ethernet *eth, size_t bytes)
{
    const struct net_tag *tag = (const struct net_tag *)(const void *)&eth->ether_type;
    struct net_vlan v = {.found = NET_UNTAGGED};

    if (eth->ether_type != net16(NET_TYPE_TAG)) {
        v.found = is_tag(eth->ether_type) ? NET_TAG_NESTED : NET_UNTAGGED;
        return v;
    }
    if (bytes < sizeof(*eth) + sizeof(*tag)) {
        v.found = NET_TAG_SHORT;
        return v;
    }
    v.has_tag = true;
    v.tci = net16(tag->control);
    if (is_tag(tag[1].type))
        v.found = NET_TAG_NESTED;
    else if ((v.tci & NET_TCI_ID) > NET_VLAN_LAST)
        v.found = NET_TAG_RESERVED;
    else if (v.tci & NET_TCI_ID)
        v.found = NET_TAGGED;
    return v;
}

void net_untag(void *frame)
{
    memmove((uint8_t *)frame + sizeof(struct net_tag), frame, ADDRESSES);
}

void net_tag(void *frame, uint16_t tci)
{
    const struct net_tag tag = {.type = net16(NET_TYPE_TAG), .control = net16(tci)};

    memmove(frame, (uint8_t *)frame + sizeof(tag), ADDRESSES);
    memcpy((uint8_t *)frame + ADDRESSES, &tag, sizeof(tag));
}
