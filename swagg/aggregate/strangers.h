/* Packets to the switch's data ports that are of no job or member: path probes, which are answered, and what
 * is dropped, whose sender may be told why. Nobody vouches for them, so the answers of each kind are bounded.
 *
 * Threads: a struct strangers is one lcore's.
 */
#ifndef SWAGG_AGGREGATE_STRANGERS_H
#define SWAGG_AGGREGATE_STRANGERS_H

#include "aggregate/egress.h"

/* Answers that may be sent. */
struct allowance {
    uint64_t credit, at; /* how many now; TSC of the last refill */
};

struct strangers {
    /* Set before the start, then only read. */
    struct egress *egress;
    struct counters *counters;
    uint64_t boot_id;   /* of this switch, for rejects */
    uint8_t data_ports; /* for path probes: how many UDP ports workers are told to deal their slots to */

    struct allowance rejects, path_answers;
};

/* p: a packet that its protocol's locate has refused, m: the frame that it came in, which stays the caller's.
 * now: in TSC cycles. */
void strangers_refuse(struct strangers *s, const struct agg_protocol *protocol, const struct agg_packet *p,
                      const struct rte_mbuf *m, uint64_t now);

#endif
