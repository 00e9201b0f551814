/* Packets in words, for those who look at captures (struct agg_protocol). Pure functions that append to a
 * line. */
#pragma once

#include "protocol/jobs.h"
#include "protocol/terms.h"

/* A line of text, built up piece by piece; what does not fit is cut off. Starts as {0}. */
struct agg_line {
    char text[1024];
    size_t length;
};

__attribute__((format(printf, 2, 3))) void agg_append(struct agg_line *l, const char *format, ...);

struct agg_words {
    unsigned elements; /* that are shown of each packet, at most */
    /* An element in the order of the wire, in words; code: of operation and type (kernels.h). */
    int (*element)(char *text, size_t bytes, uint8_t code, const uint8_t *wire);
    uint8_t format; /* enum xfer_format, where a job's terms are not known */
    struct agg_terms granted[AGG_PROTOCOL_IDS][AGG_JOBS]; /* terms of the jobs; bytes 0: not known */
};

/* How many elements there are, and the first few. */
void agg_append_elements(struct agg_line *l, const struct agg_words *how, uint8_t code, const uint8_t *p,
                         size_t bytes);

/* " contributed: 0 2": the ranks in a map as it travels (protocol/ranks.h). */
void agg_append_contributed(struct agg_line *l, const uint8_t *map, size_t bytes);
