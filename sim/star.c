#include "star.h"

#include <stdlib.h>

#include "memory.h"

void star_init(struct star *star, struct sim *sim, uint64_t *rng, unsigned hosts, link_receiver *at_switch,
               void *switch_ctx, link_receiver *at_host, void *host_ctx)
{
    star->hosts = hosts;
    star->up = memory_of(hosts * sizeof(*star->up));
    star->down = memory_of(hosts * sizeof(*star->down));
    for (unsigned h = 0; h < hosts; h++) {
        link_init(&star->up[h], sim, rng, at_switch, switch_ctx);
        link_init(&star->down[h], sim, rng, at_host, host_ctx);
    }
}

void star_fini(struct star *star)
{
    for (unsigned h = 0; h < star->hosts; h++) {
        link_fini(&star->up[h]);
        link_fini(&star->down[h]);
    }
    free(star->up);
    free(star->down);
}

void star_send_up(struct star *star, unsigned host, uint16_t host_port, uint16_t switch_port,
                  const uint8_t *payload, size_t bytes, bool unsummed)
{
    link_send(&star->up[host], frame_new(host, switch_port, host_port, payload, bytes, unsummed));
}

void star_send_down(struct star *star, unsigned host, uint16_t host_port, uint16_t switch_port,
                    const uint8_t *payload, size_t bytes, bool unsummed)
{
    link_send(&star->down[host], frame_new(host, switch_port, host_port, payload, bytes, unsummed));
}

struct ctl_endpoint star_endpoint(unsigned host, uint16_t udp_port)
{
    return (struct ctl_endpoint){.mac = {2, 0, 0, 0, (uint8_t)(host >> 8), (uint8_t)host},
                                 .port = (uint8_t)host,
                                 .ip = host + 1,
                                 .udp_port = udp_port};
}
