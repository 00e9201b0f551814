/* What an lcore moves and touches for its sums: counted, not timed. Frames and their segments are counted
 * where the device hands them out and takes them back; bytes that are added and summed for checksums, in
 * kernels that count and then do their work. For one lcore of a program. */
#pragma once

#include "kernels/kernels.h"
#include "port/port.h"

struct lcore_counts {
    uint64_t received, sent; /* frames */
    uint64_t handed_out;     /* bytes of their payload, received */
    /* Of the payload sent, what lies behind a frame's own headers, and what a frame only refers to. */
    uint64_t written, referred;
    uint64_t added;  /* bytes that were added to others: both are read, and the sum is written */
    uint64_t summed; /* bytes, for checksums of more than headers */
};

/* From here on. kernels: those that the lcore adds with, which become ones that count; code: of its job. The
 * port's device becomes one that counts. */
void lcore_counts_begin(struct lcore_counts *counts, struct agg_kernels *kernels, uint8_t code,
                        struct port *port);

/* Writes the rest of a JSON object: frames sent per frame received, and of a sum the bytes of payload that
 * were read and written between receiving and sending. frames: that a sum is sent in; element_bytes: in a
 * frame received. */
void lcore_counts_print(const struct lcore_counts *counts, unsigned frames, unsigned element_bytes);
