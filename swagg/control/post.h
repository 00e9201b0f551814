/* Payloads of the switch's own, sent as frames by the main lcore: control messages, path probes. */
#pragma once

#include "bridge/bridge.h"
#include "bridge/host.h"

struct post {
    const struct host *host;     /* the main lcore's */
    const struct bridge *bridge; /* of all networks (bridge_of) */
};

struct post_address {
    struct net_mac mac;
    uint8_t network; /* that it is in (port/vlans.h) */
    uint8_t port;    /* of the switch, where the station was heard; the bridge may know better by now */
    rte_be32_t ip;
    uint16_t udp_port; /* host order */
};

/* From this UDP port (host order) of the switch. The frame waits for send_flush. False: no buffer was free,
 * which is counted. */
bool post_send(const struct post *p, uint16_t from_port, const struct post_address *to, const void *payload,
               size_t bytes);
