/* A stream that sends on a link when it is due: after each packet that it has received, and by its timer. */
#pragma once

#include "link.h"
#include "switchml/stream.h"

struct sender {
    struct sml_stream *stream; /* the owner's */
    struct link *up;
    unsigned rank;
    uint16_t filler;   /* of frames with elements (link.h); 0 after sender_init */
    uint64_t timer_at; /* the stream's timer that is scheduled; UINT64_MAX: none */
};

void sender_init(struct sender *s, struct sml_stream *stream, struct link *up, unsigned rank);

/* Sends what may leave now, and comes back by itself when the stream's timer says so. */
void sender_turn(struct sender *s);
