/* One allreduce by a balanced tree of switches, in virtual time: the real pools of lib/core/switchml and
 * lib/core/relay, and the real stream of each worker, with as much of a switch around them as decides its
 * speed: lcores that each need a time for a packet, and cables. docs/scale.md, "How it is simulated".
 *
 * A packet's elements are few (SCALE_CARRIED_BYTES), but on a cable and at an lcore it takes as long as one
 * with a whole chunk. Workers contribute different numbers, and every result that a worker takes is compared.
 */
#ifndef SWAGG_SIM_SCALE_RUN_H
#define SWAGG_SIM_SCALE_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "scale/costs.h"

enum { SCALE_LEVELS_MAX = 4, SCALE_CARRIED_BYTES = 64 };

struct scale_tree {
    unsigned levels;
    unsigned fan_in[SCALE_LEVELS_MAX]; /* below a switch of this level, the root's first: switches, or, at the
                                          last one, workers */
};

struct scale_config {
    struct scale_tree tree;
    uint64_t bits_per_s; /* of every cable */
    uint64_t delay_ns;   /* ... one way */
    uint32_t loss_ppm;   /* ... in each direction */
    uint16_t chunk_bytes;
    uint16_t slots;
    unsigned lcores; /* of every switch; slot i belongs to lcore i % lcores */
    const struct costs *costs;
    uint64_t chunks; /* of the tensor */
    uint64_t seed;
};

struct scale_result {
    bool exact;       /* every result of every worker was the sum, bit for bit */
    double seconds;   /* from the first packet until the last worker has everything */
    double share;     /* what the links need for the data packets / seconds */
    double steady;    /* the same of the results between the first half and the last eighth */
    double busiest;   /* the work that came for the busiest lcore / seconds */
    unsigned waiting; /* packets, the most that ever waited for one lcore */
    uint64_t frames, lost, probes, retransmitted, events;
};

unsigned scale_workers(const struct scale_tree *tree);
unsigned scale_switches(const struct scale_tree *tree);

/* Bytes on a cable of a data packet with a whole chunk, and in its frame, with the FCS. */
unsigned scale_wire_bytes(uint16_t chunk_bytes);
unsigned scale_frame_bytes(uint16_t chunk_bytes);

/* What the links need for the tensor's data packets alone. */
double scale_ideal_s(const struct scale_config *cfg);

/* Memory of the pool of a switch of this level, with whole chunks. */
size_t scale_pool_bytes(const struct scale_config *cfg, unsigned level);

struct scale_result scale_run(const struct scale_config *cfg);

#endif
