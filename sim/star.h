/* The network: a switch in the middle, a host at the end of each cable. */
#pragma once

#include "control/entry.h"
#include "link.h"

struct star {
    unsigned hosts;
    struct link *up, *down; /* [hosts] */
};

/* frame->host says from or to which host a frame goes. */
void star_init(struct star *star, struct sim *sim, uint64_t *rng, unsigned hosts, link_receiver *at_switch,
               void *switch_ctx, link_receiver *at_host, void *host_ctx);
void star_fini(struct star *star);

/* Both copy the payload. Ports are UDP's. unsummed: without UDP's checksum. */
void star_send_up(struct star *star, unsigned host, uint16_t host_port, uint16_t switch_port,
                  const uint8_t *payload, size_t bytes, bool unsummed);
void star_send_down(struct star *star, unsigned host, uint16_t host_port, uint16_t switch_port,
                    const uint8_t *payload, size_t bytes, bool unsummed);

/* Hosts' addresses are their numbers. */
struct ctl_endpoint star_endpoint(unsigned host, uint16_t udp_port);
