/* Data packets over one kernel UDP socket, connected to the switch where that has a single data port. Packets
 * are sent and received in batches (recvmmsg, sendmmsg); the kernel gathers header and tensor memory. Where
 * the kernel can, runs of packets of equal size are handed to it as one (UDP_SEGMENT) and received as one
 * (UDP_GRO). */
#pragma once

#include <netinet/in.h>

#include "protocol/protocol.h"
#include "transport.h"

struct transport_udp_config {
    struct in_addr switch_ip;
    uint16_t port;            /* of the switch, the first for data */
    struct agg_key_field key; /* by which packets are dealt to its ports */
    /* Notes in a packet that it has met a congested queue (struct agg_protocol); then packets say that they
     * can be marked (ECN). NULL: neither. */
    void (*mark)(uint8_t *payload, size_t bytes);
    void (*note_group)(uint8_t *payload, size_t bytes); /* the same of one that came by a group */
    unsigned mtu;                                       /* at least CLIENT_MTU_MIN */
    size_t packet_max;                                  /* bytes of the longest payload */
    /* of the packets that will be sent: those that have one are sent without UDP's */
    enum xfer_checksum checksum;
};

/* *out is the caller's, to be closed by its ops->close. Returns 0 or -errno. */
int transport_udp_open(struct transport **out, const struct transport_udp_config *config);
