#include "net/ecn.h"

/* Where the IPv4 header begins; 0: there is none. */
static size_t find_ipv4(const uint8_t *frame, size_t bytes)
{
    size_t at = sizeof(struct net_ethernet);
    uint16_t type;

    if (bytes < at + sizeof(struct net_ipv4))
        return 0;
    memcpy(&type, frame + at - sizeof(type), sizeof(type));
    if (type == net16(NET_TYPE_TAG)) {
        at += sizeof(struct net_tag);
        if (bytes < at + sizeof(struct net_ipv4))
            return 0;
        memcpy(&type, frame + at - sizeof(type), sizeof(type));
    }
    return type == net16(NET_TYPE_IPV4) ? at : 0;
}

bool net_ecn_mark(void *frame, size_t bytes)
{
    const size_t at = find_ipv4(frame, bytes);
    uint8_t *ip = (uint8_t *)frame + at;
    uint16_t before, after, sum;

    if (at == 0 || (ip[1] & NET_ECN_MASK) == 0 || (ip[1] & NET_ECN_MASK) == NET_ECN_MARKED)
        return false;
    memcpy(&before, ip, sizeof(before));
    ip[1] |= NET_ECN_MARKED;
    memcpy(&after, ip, sizeof(after));
    memcpy(&sum, ip + offsetof(struct net_ipv4, hdr_checksum), sizeof(sum));
    sum = (uint16_t)~net_fold((uint32_t)(uint16_t)~sum + (uint16_t)~before + after); /* RFC 1624 */
    memcpy(ip + offsetof(struct net_ipv4, hdr_checksum), &sum, sizeof(sum));
    return true;
}
