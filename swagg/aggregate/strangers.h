/* Packets to the switch's data ports that are of no job or member: path probes, which are answered, and what
 * is dropped, whose sender may be told why. Nobody vouches for them, so the answers of each kind are bounded.
 *
 * Threads: a struct strangers is one lcore's.
 */
#ifndef SWAGG_AGGREGATE_STRANGERS_H
#define SWAGG_AGGREGATE_STRANGERS_H

#include "aggregate/egress.h"
#include "base/throttle.h"

/* Answers that may be sent. */
struct allowance {
    uint64_t credit, at; /* how many now; when that was counted, in ns */
};

struct strangers {
    /* Set before the start, then only read. */
    struct egress *egress;
    struct counters *counters;
    uint64_t boot_id;   /* of this switch, for rejects */
    uint8_t data_ports; /* for path probes: how many UDP ports workers are told to deal their slots to */

    struct allowance rejects, path_answers;
    struct throttle path_askers; /* by IP address: who asks without end delays nobody else's joining */
};

/* seed: random, of the table of askers. Before the start, when the fields above are set. */
void strangers_init(struct strangers *s, uint64_t seed);

/* p: a packet that its protocol's locate has refused, m: the frame that it came in, which stays the caller's.
 * now: in ns, monotonic. */
void strangers_refuse(struct strangers *s, const struct agg_protocol *protocol, const struct agg_packet *p,
                      const struct rte_mbuf *m, uint64_t now);

#endif
