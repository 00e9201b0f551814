#include "port/steer.h"

#include "base/log.h"
#include "wire/switchml.h"

enum { DATA_PORTS = SML_PORT_LAST - SML_PORT_FIRST + 1 };

static bool ports_tell_shards(unsigned shards)
{
    return shards > 0 && DATA_PORTS % shards == 0;
}

unsigned steer_data_ports(const struct port port[], unsigned ports, unsigned shards)
{
    unsigned queues = 0;

    for (unsigned p = 0; p < ports; p++)
        queues = RTE_MAX(queues, port[p].rx_queues);
    return queues > 1 && ports_tell_shards(shards) ? shards : 1;
}

/* All rules that there are to add, or none; returns how many. */
static unsigned add_rules(const struct port *port, const struct steer_queues *to)
{
    const char *why = NULL;
    unsigned added = 0;

    for (unsigned i = 0; i < DATA_PORTS; i++) {
        const int queue = to->queue[i % to->shards];

        if (queue < 0)
            continue; /* that lcore does not receive */
        if (port->device->steer(port, (uint16_t)(SML_PORT_FIRST + i), (uint16_t)queue, &why) < 0) {
            log_info("port %s: takes no flow rules: %s", port->name, why != NULL ? why : "no reason given");
            port->device->steer_no_more(port);
            return 0;
        }
        added++;
    }
    return added;
}

void steer_port(const struct port *port, const struct steer_queues *to)
{
    const char *rest = port->hashes ? "its hash of addresses and UDP ports" : "its own way";

    if (port->rx_queues == 1)
        return;
    if (port->device->steer != NULL && ports_tell_shards(to->shards) && add_rules(port, to) > 0)
        log_notice("port %s: flow rules bring UDP ports %u..%u to the lcores of their shards; the device "
                   "spreads the rest over "
                   "%u queues by %s",
                   port->name, SML_PORT_FIRST, SML_PORT_LAST, port->rx_queues, rest);
    else
        log_notice("port %s: the device spreads frames over %u queues by %s; gradient packets that arrive on "
                   "another lcore than their shard's cross by ring",
                   port->name, port->rx_queues, rest);
}
