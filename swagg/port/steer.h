/* Which receive queue of a port a packet comes to: best that of the lcore that owns its slot.
 *
 * Nothing depends on it: a packet that arrives on another lcore crosses by ring. Where the device takes flow
 * rules, packets to UDP port first + i come to the lcore of shard i % shards; workers are told to
 * deal their slots to as many ports as there are shards (docs/protocol.md, READY). Otherwise the device's
 * hash of addresses and UDP ports spreads the packets over the queues, or the device has a way of its own.
 */
#ifndef SWAGG_PORT_STEER_H
#define SWAGG_PORT_STEER_H

#include "config/placement.h"
#include "port/port.h"

/* The UDP ports that gradient packets come to. Host order. */
struct steer_ports {
    uint16_t first, count;
};

/* Where a port's gradient packets are to go. */
struct steer_queues {
    struct steer_ports data;
    unsigned shards;
    int queue[SWAGG_MAX_SHARDS]; /* by shard: by which its owner receives from this port; -1: by none */
};

/* For a started port; says in the log which way it is. Main lcore, before the others run. */
void steer_port(const struct port *port, const struct steer_queues *to);

/* To how many of these UDP ports workers are told to deal their slots: 1, or as many as there are shards,
 * where some port has several receive queues. */
unsigned steer_data_ports(const struct port port[], unsigned ports, const struct steer_ports *data,
                          unsigned shards);

#endif
