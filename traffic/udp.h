/* UDP datagrams in Ethernet frames, as captures hold them: without the frame check sequence. Pure. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    UDP_HEADERS_BYTES = 14 + 20 + 8,
    UDP_FRAME_MAX = 65535,
    UDP_FRAME_MIN = 60,
};

struct udp_end {
    uint8_t mac[6];
    uint32_t ip; /* host order, like the port */
    uint16_t port;
};

struct udp_datagram {
    struct udp_end from, to;
    const uint8_t *payload;
    size_t bytes;
    bool bad_checksum;   /* of IPv4 or UDP */
    bool left_to_device; /* the UDP checksum was left to the sender's device: so far it covers addresses and
                            length only */
};

/* Writes a frame around the payload (which may already lie at out + UDP_HEADERS_BYTES): TTL 64, both
 * checksums right, padded to UDP_FRAME_MIN. Returns its length. out has room for UDP_HEADERS_BYTES + bytes,
 * at least UDP_FRAME_MIN. */
size_t udp_build(uint8_t *out, const struct udp_end *from, const struct udp_end *to, const void *payload,
                 size_t bytes);

/* False: not a whole, unfragmented UDP datagram in IPv4 without options, untagged. d->payload points into
 * frame. */
bool udp_parse(struct udp_datagram *d, const uint8_t *frame, size_t bytes);
