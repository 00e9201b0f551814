/* The bytes of frames, with a reference count, since several frames and a job's pool may share them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buffer {
    unsigned holders;
    int kept;      /* how often a pool keeps it now; keeping.c counts */
    bool sealed;   /* nobody may change it any more */
    uint32_t seal; /* its CRC32C when it was sealed */
    size_t bytes;
    uint8_t at[]; /* not a byte more, so that a sanitizer notices accesses beyond */
};

struct buffer *buffer_new(const uint8_t *bytes, size_t n); /* a copy, with one holder */
struct buffer *buffer_hold(struct buffer *b);
void buffer_drop(struct buffer *b); /* frees it with the last holder */

void buffer_seal(struct buffer *b);
bool buffer_is_intact(const struct buffer *b); /* it has not changed since it was sealed, if it was */

/* Overwrites it with bytes that are neither a packet nor a sum, and seals it. */
void buffer_spoil(struct buffer *b);
