/* What each frame of a burst says, and whose it is: the switch's own, and which part of it takes it; a
 * protocol's; or the bridge's to pass on (lcore/classifier.h has the rules).
 *
 * Threads: a struct receive is one lcore's.
 */
#pragma once

#include "lcore/receive.h"
#include "port/facts.h"

enum { BURST_STATIONS = 8 /* a power of two */, BURST_NOBODY = 0xFF /* a byte of no station */ };

enum room { ROOM_AGGREGATE, ROOM_CONTROL, ROOM_HOST, ROOM_BRIDGE, ROOM_DROP, ROOMS };

/* Frames that came in together, and who gets them. */
struct burst {
    unsigned port;
    const struct classifier_table *rules;
    uint64_t own_mac; /* as facts have it */
    /* The last rule that was found about a UDP port of the switch's, and that port; NULL: none yet. Most
     * frames of a burst are to one. */
    const struct classifier_rule *rule;
    rte_be16_t rule_port;
    /* by the last byte of the address: the last station that the bridge has learned, and its network above
     * that. Most frames of a burst are from few. Bytes of
     * BURST_NOBODY: none */
    uint64_t learned[BURST_STATIONS];
    struct facts facts[RECEIVE_BURST];
    unsigned in[ROOMS];
    struct facts *room[ROOMS][RECEIVE_BURST];
};

/* Reads the facts of each frame, and puts it into its room, or into two: what everybody is asked by ARP is
 * heard by the host, too, and what passes by may be a protocol's to copy. The rooms are empty. */
void classify_burst(struct receive *r, struct burst *b, struct rte_mbuf *const frames[], unsigned n);
