/* What a packet costs an lcore of a switch, as the data-path benchmark has measured it
 * (docs/results/dataplane.md: one lcore, contributions in and results out, by the frame's size). */
#pragma once

#include <stdint.h>

enum { COSTS_MAX = 16 };

struct costs {
    unsigned sizes;
    struct {
        unsigned frame_bytes; /* on the wire, with the FCS */
        double ns;            /* for a frame received, and one sent for it */
    } at[COSTS_MAX];          /* by size */
};

/* Reads the benchmark's record (docs/results/data/dataplane.json). Ends the program with a message if it is
 * not there or has no sizes. */
struct costs costs_read(const char *path);

/* In picoseconds; between two sizes on the line that joins them, beyond the last one in proportion. */
uint64_t costs_ps(const struct costs *c, unsigned frame_bytes);
