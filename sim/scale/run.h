/* One allreduce by a balanced tree of switches, in virtual time: the real pools of lib/core/switchml and
 * lib/core/relay, and the real stream of each worker, with as much of a switch around them as decides its
 * speed: lcores that each need a time for a packet, and cables. docs/scale.md, "How it is simulated".
 *
 * A packet's elements are few (SCALE_CARRIED_BYTES), but on a cable and at an lcore it takes as long as one
 * with a whole chunk. Workers contribute different numbers, and every result that a worker takes is compared.
 */
#pragma once

#include "scale/tree.h"

struct scale_result {
    bool exact;       /* every result of every worker was the sum, bit for bit */
    double seconds;   /* from the first packet until the last worker has everything */
    double share;     /* what the links need for the data packets / seconds */
    double steady;    /* the same of the results between the first half and the last eighth */
    double busiest;   /* the work that came for the busiest lcore / seconds */
    unsigned waiting; /* packets, the most that ever waited for one lcore */
    uint64_t frames, lost, probes, retransmitted, events;
};

struct scale_result scale_run(const struct scale_config *cfg);
