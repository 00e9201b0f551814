/* Captures, frame by frame, and the aggregation packets in them, one by one. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocol/protocol.h"
#include "udp.h"

struct capture_frame {
    uint64_t number;      /* in its file, from 1, as Wireshark counts */
    uint64_t ns;          /* since the epoch */
    const uint8_t *bytes; /* until the next frame is read */
    size_t length;        /* of what was captured */
    bool cut;             /* the frame was longer */
};

/* Calls visit for every frame of a file ("-": standard input), until it returns false. 0, or -1 after
 * complaining: it is no capture, or not of Ethernet. */
typedef bool capture_visitor(void *context, const struct capture_frame *frame);
int capture_read(const char *file, capture_visitor *visit, void *context);

enum packet_kind {
    PACKET_NONE,    /* the frame is no UDP datagram, or not captured whole */
    PACKET_OTHER,   /* a datagram of no protocol of ours */
    PACKET_CONTROL, /* from or to the control port */
    PACKET_DATA,    /* from or to a port of a protocol; one frame may have several of SwitchML's */
};

struct captured_packet {
    enum packet_kind kind;
    const struct agg_protocol *protocol; /* PACKET_DATA: one that describes its packets; else NULL */
    const struct capture_frame *frame;
    /* of the frame, but payload and bytes are this packet's; unset in PACKET_NONE */
    struct udp_datagram datagram;
    bool from_switch; /* PACKET_DATA: from a port of the protocol's own */
    bool first;       /* in its frame */
    bool merged;      /* the frame has several */
};

/* Calls visit for every packet of a file, at least once for each frame, until it returns false. As
 * capture_read. hostagg_port: the UDP port of host-addressed aggregation; 0: none is looked for. */
typedef bool packet_visitor(void *context, const struct captured_packet *packet);
int packets_read(const char *file, uint16_t hostagg_port, packet_visitor *visit, void *context);
