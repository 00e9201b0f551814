/* Reading captures, frame by frame. */
#ifndef SWAGG_CAPTURE_H
#define SWAGG_CAPTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct capture_frame {
    uint64_t number;      /* in its file, from 1, as Wireshark counts */
    uint64_t ns;          /* since the epoch */
    const uint8_t *bytes; /* until the next frame is read */
    size_t length;        /* of what was captured */
    bool cut;             /* the frame was longer */
};

/* Calls visit for every frame of a file ("-": standard input), until it returns false. 0, or -1 after
 * complaining: it is no capture, or not of Ethernet. */
typedef bool capture_visitor(void *context, const struct capture_frame *frame);
int capture_read(const char *file, capture_visitor *visit, void *context);

#endif
