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
    unsigned elements;           /* that are shown of each packet, at most */
    enum sml_format format[256]; /* of the job with this number */
};

/* A gradient packet: a UDP payload from or to the ports 0xBEE0..0xBEEF. Untrusted, like all here. */
void describe_switchml(struct line *l, const struct describe *how, const uint8_t *payload, size_t bytes);

/* A control message: a UDP payload from or to port 0xBEDF. Takes over the format that it grants a job. */
void describe_control(struct line *l, struct describe *how, const uint8_t *payload, size_t bytes);

#endif
