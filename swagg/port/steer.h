/* Which receive queue of a port a packet comes to: best that of the lcore that owns its slot.
 *
 * Nothing depends on it: a packet that arrives on another lcore crosses by ring. Where the device takes flow
 * rules, packets to UDP port SML_PORT_FIRST + i come to the lcore of shard i % shards; workers are told to
 * deal their slots to as many ports as there are shards (docs/protocol.md, READY). Otherwise the device's
 * hash of addresses and UDP ports spreads the packets over the queues, or the device has a way of its own.
 */
#ifndef SWAGG_PORT_STEER_H
#define SWAGG_PORT_STEER_H

struct datapath;

/* For a started port; says in the log which way it is. Main lcore, before the others run. */
void steer_port(const struct datapath *dp, unsigned port);

/* How many UDP ports, from SML_PORT_FIRST on, workers should deal their slots to. More than 1 only where a
 * port has several queues to bring them to. */
unsigned steer_data_ports(const struct datapath *dp);

#endif
