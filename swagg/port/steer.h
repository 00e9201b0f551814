/* Which receive queue of a port a packet comes to: best that of the lcore that owns its slot. This is only
 * for speed: a packet that arrives on another lcore crosses by ring. If the device takes flow rules, packets
 * to UDP port first + i come to the lcore of shard i % shards; workers are told to deal their slots to as
 * many ports as there are shards (docs/protocol.md, READY). If it takes none, its hash may do the same, where
 * it can be chosen. Otherwise the device spreads packets over the queues by its hash of addresses and UDP
 * ports, or in another way.
 */
#pragma once

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
    int queue[SWAGG_MAX_SHARDS]; /* by shard: the queue of this port that its owner receives from; -1: none */
};

/* Adds flow rules to a started port, if it takes them, or else chooses its hash; logs how packets come to its
 * queues. Main lcore, before the others run. */
void steer_port(const struct port *port, const struct steer_queues *to);

/* How many of these UDP ports workers are told to use: as many as there are shards if some port has several
 * receive queues, else 1. */
unsigned steer_data_ports(const struct port port[], unsigned ports, const struct steer_ports *data,
                          unsigned shards);
