/* What the fuzz targets share. A target is one LLVMFuzzerTestOneInput; it must hold for any bytes at all.
 * With clang it is linked with libFuzzer (tests/fuzz/run), otherwise with replay.c, which plays files. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The oracles' assert: also in release builds. */
#define REQUIRE(condition)                                                                                   \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                          \
            abort();                                                                                         \
        }                                                                                                    \
    } while (0)

/* The input, taken from the front; zeros when it is used up. */
struct input {
    const uint8_t *at;
    size_t left;
};

static inline uint8_t take8(struct input *in)
{
    if (in->left == 0)
        return 0;
    in->left--;
    return *in->at++;
}

static inline uint16_t take16(struct input *in)
{
    uint16_t high = take8(in);
    return (uint16_t)(high << 8 | take8(in));
}

static inline uint32_t take32(struct input *in)
{
    uint32_t high = take16(in);
    return high << 16 | take16(in);
}

/* A copy of exactly the next (up to) max bytes, on the heap, so that the sanitizers notice reads beyond. */
static inline uint8_t *take_bytes(struct input *in, size_t max, size_t *bytes)
{
    *bytes = max < in->left ? max : in->left;
    uint8_t *copy = malloc(*bytes ? *bytes : 1);
    if (*bytes)
        memcpy(copy, in->at, *bytes);
    in->at += *bytes;
    in->left -= *bytes;
    return copy;
}

/* A packet as it arrives, in memory of exactly its length: with odd & 16 cut off, with odd & 32 a byte of it
 * is another. The payload has room for a byte more. */
static inline uint8_t *take_damage(struct input *in, uint8_t odd, uint8_t *payload, size_t *bytes)
{
    if (odd & 16)
        *bytes = take8(in) % (*bytes + 1);
    if (odd & 32)
        payload[take8(in) % (*bytes + 1)] ^= take8(in);
    uint8_t *exact = malloc(*bytes + 1);
    memcpy(exact, payload, *bytes);
    return exact;
}
