/* Packets in words. Pure functions that append to a line. */
#ifndef SWAGG_CAPTURE_DESCRIBE_H
#define SWAGG_CAPTURE_DESCRIBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/switchml.h"

/* A line of text, built up piece by piece; what does not fit is cut off. Starts as {0}. */
struct line {
    char text[1024];
    size_t length;
};

__attribute__((format(printf, 2, 3))) void append(struct line *l, const char *format, ...);

struct describe {
    unsigned elements;            /* that are shown of each packet, at most */
    enum xfer_format format[256]; /* of the job with this number */
    uint8_t hostagg_code;         /* type and operation of host-addressed jobs (kernels.h) */
};

/* How many elements there are, and the first few. */
void describe_elements(struct line *l, const struct describe *how, uint8_t code, const uint8_t *p,
                       size_t bytes);

/* " contributed: 0 2": the ranks in a map as it travels (protocol/ranks.h). */
void describe_contributed(struct line *l, const uint8_t *map, size_t bytes);

/* What a packet ends with (enum xfer_checksum): a word with a space before it, or nothing. */
const char *describe_trailer(unsigned checksum);

/* A gradient packet: a UDP payload from or to the ports 0xBEE0..0xBEEF. Untrusted, like all here. */
void describe_switchml(struct line *l, const struct describe *how, const uint8_t *payload, size_t bytes);

/* A packet of host-addressed aggregation: a UDP payload from or to the port that a host has for it. */
void describe_hostagg(struct line *l, const struct describe *how, const uint8_t *payload, size_t bytes);

/* A packet of ATP: a UDP payload from or to the ports 0xBEC0..0xBECF. */
void describe_atp(struct line *l, const struct describe *how, const uint8_t *payload, size_t bytes);

/* A control message: a UDP payload from or to port 0xBEDF. Takes over the format that it grants a job. */
void describe_control(struct line *l, struct describe *how, const uint8_t *payload, size_t bytes);

#endif
