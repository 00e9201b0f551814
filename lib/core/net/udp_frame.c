#include "net/udp_frame.h"

#include "net/sum.h"

void frame_header_init(struct frame_header *h, const struct frame_end *from, const struct frame_end *to)
{
    struct frame_udp f = {
        .eth = {.dst_addr = to->mac, .src_addr = from->mac, .ether_type = net16(NET_TYPE_IPV4)},
        .ip = {.version_ihl = NET_IPV4_PLAIN,
               .fragment_offset = net16(NET_IPV4_DONT_FRAGMENT),
               .time_to_live = 64,
               .next_proto_id = NET_PROTOCOL_UDP,
               .src_addr = from->ip,
               .dst_addr = to->ip},
        .udp = {.dst_port = to->port},
    };

    h->without_udp_sum = false;
    h->ip_sum = net_ipv4_sum(&f.ip);
    h->udp_sum = net_fold((uint32_t)net_ipv4_pseudo_sum(&f.ip, NET_PROTOCOL_UDP, 0) + f.udp.dst_port);
    memcpy(h->bytes, &f, sizeof(h->bytes));
}

void frame_write(void *out, const struct frame_header *h, uint16_t from_port, const struct frame_payload *p)
{
    struct frame_udp *f = out;

    frame_write_headers(out, h, from_port, p);
    memcpy(f->payload, p->at, p->bytes);
}

void frame_answer_ends(const struct frame_udp *f, struct frame_end *from, struct frame_end *to)
{
    *from = (struct frame_end){.mac = f->eth.dst_addr, .ip = f->ip.dst_addr, .port = f->udp.dst_port};
    *to = (struct frame_end){.mac = f->eth.src_addr, .ip = f->ip.src_addr, .port = f->udp.src_port};
}
