#include "udp.h"

#include <string.h>

#include "wire/bytes.h"

enum { ETH = 14, IP = 20, UDP = 8, ETHERTYPE_IPV4 = 0x0800, PROTOCOL_UDP = 17, DONT_FRAGMENT = 0x4000 };

/* Adds 16-bit words to a ones' complement sum (RFC 1071). */
static uint64_t sum_words(uint64_t sum, const uint8_t *p, size_t bytes)
{
    for (; bytes > 1; p += 2, bytes -= 2)
        sum += get_be16(p);
    return bytes == 1 ? sum + (uint64_t)(*p << 8) : sum;
}

static uint16_t fold(uint64_t sum)
{
    while (sum >> 16 != 0)
        sum = (sum & 0xFFFF) + (sum >> 16);
    return (uint16_t)sum;
}

/* Over addresses, protocol and length. */
static uint64_t pseudo_header_sum(const uint8_t *ip, size_t bytes)
{
    return sum_words(PROTOCOL_UDP + bytes, ip + 12, 8);
}

/* Over these and the datagram at udp. */
static uint16_t udp_sum(const uint8_t *ip, const uint8_t *udp, size_t bytes)
{
    return fold(sum_words(pseudo_header_sum(ip, bytes), udp, bytes));
}

size_t udp_build(uint8_t *out, const struct udp_end *from, const struct udp_end *to, const void *payload,
                 size_t bytes)
{
    uint8_t *ip = out + ETH, *udp = ip + IP;
    size_t length = UDP_HEADERS_BYTES + bytes;
    uint16_t sum;

    memmove(udp + UDP, payload, bytes);
    memset(out, 0, UDP_HEADERS_BYTES);
    memcpy(out, to->mac, sizeof(to->mac));
    memcpy(out + 6, from->mac, sizeof(from->mac));
    put_be16(out + 12, ETHERTYPE_IPV4);
    ip[0] = 0x45;
    put_be16(ip + 2, (uint16_t)(IP + UDP + bytes));
    put_be16(ip + 6, DONT_FRAGMENT);
    ip[8] = 64;
    ip[9] = PROTOCOL_UDP;
    put_be32(ip + 12, from->ip);
    put_be32(ip + 16, to->ip);
    put_be16(ip + 10, (uint16_t)~fold(sum_words(0, ip, IP)));
    put_be16(udp, from->port);
    put_be16(udp + 2, to->port);
    put_be16(udp + 4, (uint16_t)(UDP + bytes));
    sum = (uint16_t)~udp_sum(ip, udp, UDP + bytes);
    put_be16(udp + 6, sum != 0 ? sum : 0xFFFF); /* 0 would mean that there is none */
    if (length < UDP_FRAME_MIN) {
        memset(out + length, 0, UDP_FRAME_MIN - length);
        length = UDP_FRAME_MIN;
    }
    return length;
}

bool udp_parse(struct udp_datagram *d, const uint8_t *frame, size_t bytes)
{
    const uint8_t *ip = frame + ETH, *udp = ip + IP;
    size_t ip_bytes, udp_bytes;

    if (bytes < UDP_HEADERS_BYTES || get_be16(frame + 12) != ETHERTYPE_IPV4 || ip[0] != 0x45 ||
        ip[9] != PROTOCOL_UDP || (get_be16(ip + 6) & ~DONT_FRAGMENT) != 0)
        return false;
    ip_bytes = get_be16(ip + 2);
    udp_bytes = get_be16(udp + 4);
    if (ip_bytes > bytes - ETH || udp_bytes < UDP || udp_bytes + IP > ip_bytes)
        return false;
    memcpy(d->to.mac, frame, sizeof(d->to.mac));
    memcpy(d->from.mac, frame + 6, sizeof(d->from.mac));
    d->from.ip = get_be32(ip + 12);
    d->to.ip = get_be32(ip + 16);
    d->from.port = get_be16(udp);
    d->to.port = get_be16(udp + 2);
    d->payload = udp + UDP;
    d->bytes = udp_bytes - UDP;
    d->left_to_device = get_be16(udp + 6) == fold(pseudo_header_sum(ip, udp_bytes));
    d->bad_checksum = fold(sum_words(0, ip, IP)) != 0xFFFF ||
                      (get_be16(udp + 6) != 0 && !d->left_to_device && udp_sum(ip, udp, udp_bytes) != 0xFFFF);
    return true;
}
