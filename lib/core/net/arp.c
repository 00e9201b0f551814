#include "net/arp.h"

bool arp_check(const struct frame_arp *f, size_t bytes)
{
    return bytes >= sizeof(*f) && f->arp.hardware == net16(NET_ARP_ETHERNET) &&
           f->arp.protocol == net16(NET_TYPE_IPV4) && f->arp.hardware_bytes == sizeof(struct net_mac) &&
           f->arp.protocol_bytes == sizeof(f->arp.sender_ip);
}

/* An ARP message for IPv4 on Ethernet, to the station `to`. */
static struct frame_arp make(const struct net_mac *from, const struct net_mac *to, uint16_t operation)
{
    return (struct frame_arp){
        .eth = {.dst_addr = *to, .src_addr = *from, .ether_type = net16(NET_TYPE_ARP)},
        .arp = {.hardware = net16(NET_ARP_ETHERNET),
                .protocol = net16(NET_TYPE_IPV4),
                .hardware_bytes = sizeof(struct net_mac),
                .protocol_bytes = sizeof(uint32_t),
                .operation = net16(operation),
                .sender_mac = *from},
    };
}

void arp_answer(struct frame_arp *out, const struct frame_arp *request, const struct net_mac *mac)
{
    const struct net_arp asked = request->arp;

    *out = make(mac, &asked.sender_mac, NET_ARP_REPLY);
    out->arp.sender_ip = asked.target_ip;
    out->arp.target_mac = asked.sender_mac;
    out->arp.target_ip = asked.sender_ip;
}

void arp_ask(struct frame_arp *out, const struct net_mac *mac, uint32_t sender_ip, uint32_t target_ip)
{
    static const struct net_mac all = {{0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF}};

    *out = make(mac, &all, NET_ARP_REQUEST);
    out->arp.sender_ip = sender_ip;
    out->arp.target_ip = target_ip;
}
