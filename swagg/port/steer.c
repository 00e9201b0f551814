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

    if (port->device->steer == NULL)
        return 0;
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

/* Has the device's hash do it; false: it cannot, or need not. */
static bool deal(const struct port *port, const struct steer_queues *to)
{
    uint16_t queue[PORT_DEALS];
    const char *why = NULL;
    bool any = false;

    if (port->device->deal == NULL || to->data.count > PORT_DEALS)
        return false;
    for (unsigned i = 0; i < PORT_DEALS; i++)
        queue[i] = (uint16_t)(i % port->rx_queues);
    for (unsigned i = 0; i < to->data.count; i++)
        if (to->queue[i % to->shards] >= 0) {
            queue[(to->data.first + i) % PORT_DEALS] = (uint16_t)to->queue[i % to->shards];
            any = true;
        }
    if (!any || port->device->deal(port, queue, &why) == 0)
        return any;
    log_info("port %s: does not hash as it is told: %s", port->name, why != NULL ? why : "no reason given");
    return false;
}

static unsigned last_of(const struct steer_ports *data)
{
    return data->first + data->count - 1;
}

void steer_port(const struct port *port, const struct steer_queues *to)
{
    const char *rest = port->hashes ? "its hash of addresses and UDP ports" : "its own way";

    if (port->rx_queues == 1)
        return;
    if (ports_tell_shards(&to->data, to->shards)) {
        if (add_rules(port, to) > 0) {
            log_notice("port %s: flow rules bring UDP ports %u..%u to the lcores of their shards; the device "
                       "spreads the rest over %u queues by %s",
                       port->name, to->data.first, last_of(&to->data), port->rx_queues, rest);
            return;
        }
        if (deal(port, to)) {
            log_notice(
                "port %s: the device's hash brings UDP ports %u..%u to the lcores of their shards; it "
                "spreads the rest over %u queues by the lowest bits of the port that packets are sent to",
                port->name, to->data.first, last_of(&to->data), port->rx_queues);
            return;
        }
    }
    log_notice("port %s: the device spreads frames over %u queues by %s; gradient packets that arrive on "
               "another lcore than their shard's cross by ring",
               port->name, port->rx_queues, rest);
}
