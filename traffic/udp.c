#include "udp.h"

#include <string.h>

#include "net/check.h"
#include "net/sum.h"
#include "net/udp_frame.h"

_Static_assert((int)UDP_HEADERS_BYTES == (int)FRAME_HEADER_BYTES, "Ethernet, IPv4, UDP");

/* A plain implementation, not the kernels', since it is to check what the switch has made with those. */
static uint16_t ones_sum(const void *bytes, size_t n)
{
    return agg_kernels_scalar.ones_sum(bytes, n);
}

static struct frame_end end_of(const struct udp_end *e)
{
    struct frame_end end = {.port = net16(e->port), .ip = net32(e->ip)};

    memcpy(end.mac.addr_bytes, e->mac, sizeof(e->mac));
    return end;
}

static struct udp_end end_at(const struct net_mac *mac, uint32_t ip, uint16_t port)
{
    struct udp_end e = {.ip = net32(ip), .port = net16(port)};

    memcpy(e.mac, mac->addr_bytes, sizeof(e.mac));
    return e;
}

size_t udp_build(uint8_t *out, const struct udp_end *from, const struct udp_end *to, const void *payload,
                 size_t bytes)
{
    const struct frame_payload body = frame_payload(payload, bytes, ones_sum);
    const struct frame_end sender = end_of(from), receiver = end_of(to);
    size_t length = UDP_HEADERS_BYTES + bytes;
    struct frame_header headers;

    frame_header_init(&headers, &sender, &receiver);
    memmove(out + UDP_HEADERS_BYTES, payload, bytes);
    frame_write_headers(out, &headers, sender.port, &body);
    if (length < UDP_FRAME_MIN) {
        memset(out + length, 0, UDP_FRAME_MIN - length);
        length = UDP_FRAME_MIN;
    }
    return length;
}

/* Checksums aside. */
static bool is_datagram(const struct frame_udp *f, size_t bytes)
{
    return bytes >= sizeof(*f) && f->eth.ether_type == net16(NET_TYPE_IPV4) &&
           net_check_ipv4(&f->ip, bytes - sizeof(f->eth), NET_GOOD) == NET_OK &&
           f->ip.next_proto_id == NET_PROTOCOL_UDP &&
           net_check_udp(&f->ip, &f->udp, NET_GOOD, ones_sum) == NET_OK;
}

bool udp_parse(struct udp_datagram *d, const uint8_t *frame, size_t bytes)
{
    const struct frame_udp *f = (const void *)frame;
    uint16_t sum;

    if (!is_datagram(f, bytes))
        return false;
    sum = f->udp.dgram_cksum;
    *d = (struct udp_datagram){
        .from = end_at(&f->eth.src_addr, f->ip.src_addr, f->udp.src_port),
        .to = end_at(&f->eth.dst_addr, f->ip.dst_addr, f->udp.dst_port),
        .payload = f->payload,
        .bytes = frame_payload_bytes(f),
        .left_to_device = sum == net_ipv4_pseudo_sum(&f->ip, NET_PROTOCOL_UDP, net16(f->udp.dgram_len)),
    };
    d->bad_checksum =
        net_ipv4_sum(&f->ip) != NET_SUM_RIGHT ||
        (!d->left_to_device && net_check_udp(&f->ip, &f->udp, NET_NOT_COMPARED, ones_sum) != NET_OK);
    return true;
}
