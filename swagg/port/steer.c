#include "port/steer.h"

#include "base/log.h"

static bool ports_tell_shards(const struct steer_ports *data, unsigned shards)
{
    return shards > 0 && data->count % shards == 0;
}

unsigned steer_data_ports(const struct port port[], unsigned ports, const struct steer_ports *data,
                          unsigned shards)
{
    unsigned queues = 0;

    for (unsigned p = 0; p < ports; p++)
        queues = RTE_MAX(queues, port[p].rx_queues);
    return queues > 1 && ports_tell_shards(data, shards) ? shards : 1;
}

/* Adds all rules, or none; returns how many. */
static unsigned add_rules(const struct port *port, const struct steer_queues *to)
{
    const char *why = NULL;
    unsigned added = 0;

    for (unsigned i = 0; i < to->data.count; i++) {
        const int queue = to->queue[i % to->shards];

        if (queue < 0)
            continue; /* that lcore does not receive */
        if (port->device->steer(port, (uint16_t)(to->data.first + i), (uint16_t)queue, &why) < 0) {
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
    if (port->device->steer != NULL && ports_tell_shards(&to->data, to->shards) && add_rules(port, to) > 0)
        log_notice("port %s: flow rules bring UDP ports %u..%u to the lcores of their shards; the device "
                   "spreads the rest over "
                   "%u queues by %s",
                   port->name, to->data.first, to->data.first + to->data.count - 1, port->rx_queues, rest);
    else
        log_notice("port %s: the device spreads frames over %u queues by %s; gradient packets that arrive on "
                   "another lcore than their shard's cross by ring",
                   port->name, port->rx_queues, rest);
}
