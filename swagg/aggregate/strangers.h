/* Packets to the switch's data ports that belong to no job or member. Path probes are answered; others are
 * dropped, and their senders may be told why. Senders may be forged, so the answers of each kind are limited.
 *
 * Threads: a struct strangers is one lcore's.
 */
#ifndef SWAGG_AGGREGATE_STRANGERS_H
#define SWAGG_AGGREGATE_STRANGERS_H

#include "aggregate/egress.h"
#include "base/path_rate.h"

struct strangers {
    /* Set before the start, then only read. */
    struct egress *egress;
    struct counters *counters;
    uint64_t boot_id;   /* of this switch, for rejects */
    uint8_t data_ports; /* for path probes: how many UDP ports workers are told to deal their slots to */

    struct share_bucket rejects; /* of answers that may be sent */
    struct path_rate paths;
};

/* Before the start, after the fields above were set. seed: random, for the table of askers. */
void strangers_init(struct strangers *s, uint64_t seed);

/* p: a packet that its protocol's locate has refused, m: the frame that it came in, which stays the caller's.
 * now: in ns, monotonic. */
void strangers_refuse(struct strangers *s, const struct agg_protocol *protocol, const struct agg_packet *p,
                      const struct rte_mbuf *m, uint64_t now);

#endif
