/* Where in a frame of others' making the switch finds what it sums: the frame may not be touched, so all that
 * is known of it is in the switch's configuration. Offsets count from the frame's first byte. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CLN_MATCH_MAX = 8, CLN_ETHERNET_BYTES = 14 /* of the header: addresses, type */ };

struct cln_layout {
    uint8_t host[6]; /* that the frames are addressed to, by its MAC */
    uint16_t ether_type;
    uint16_t sequence_at; /* the number of the chunk, 32 bits: it counts up, the same for all workers */
    uint16_t elements_at;
    uint16_t match_at; /* a frame of gradients has these bytes there; others are let alone */
    bool little;       /* the byte order of the chunk's number; else big endian */
    uint8_t match_bytes;
    uint8_t match[CLN_MATCH_MAX];
};
