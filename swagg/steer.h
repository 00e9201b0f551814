/* Which receive queue of a port a packet comes to: best that of the lcore that owns its slot.
 *
 * Nothing depends on it: a packet that arrives on another lcore crosses by ring. Where the device takes flow
 * rules, packets to UDP port SML_PORT_FIRST + i come to the lcore of shard i % shards, which is right for
 * workers that send slot i to port SML_PORT_FIRST + i % 16 (docs/protocol.md). Otherwise the device's hash of
 * addresses and UDP ports spreads workers over the queues, or the device has a way of its own.
 */
#ifndef SWAGG_STEER_H
#define SWAGG_STEER_H

struct datapath;

/* For a started port; says in the log which way it is. Main lcore, before the others run. */
void steer_port(const struct datapath *dp, unsigned port);

#endif
