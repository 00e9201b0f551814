/* The pcapng format: blocks of a capture file (draft-ietf-opsawg-pcapng, "Block Types"). All numbers are
 * little endian, times in nanoseconds since 1970.
 *
 * Pure. Each function writes one block, and returns its length: at most the given *_MAX.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum {
    PCAPNG_BLOCK_MAX = 256,     /* of all but those of frames, with names of 63 characters */
    PCAPNG_FRAME_OVERHEAD = 48, /* of a frame's block, beyond the frame */
    PCAPNG_RECEIVED = 1,        /* directions */
    PCAPNG_SENT = 2,
};

/* The section header, the first block. */
size_t pcapng_section(uint8_t *to);

/* An interface, by its name; they are numbered from 0, in the order of these blocks. snap: no frame has more
 * bytes than that in the file. */
size_t pcapng_interface(uint8_t *to, const char *name, uint32_t snap);

struct pcapng_frame {
    uint32_t interface, direction;
    uint64_t time;
    uint32_t bytes; /* of the frame */
    uint32_t kept;  /* of these, in data */
    const uint8_t *data;
};

/* to: room for kept + PCAPNG_FRAME_OVERHEAD bytes. */
size_t pcapng_frame(uint8_t *to, const struct pcapng_frame *frame);

/* At the end: how many frames were to be captured at an interface, and how many of these found no room. */
size_t pcapng_statistics(uint8_t *to, uint32_t interface, uint64_t time, uint64_t seen, uint64_t lost);
