#include "buffer.h"

#include <stdlib.h>
#include <string.h>

#include "sim.h"
#include "wire/crc32c.h"

struct buffer *buffer_new(const uint8_t *bytes, size_t n)
{
    struct buffer *b = malloc(sizeof(*b) + n);

    if (b == NULL)
        sim_die("out of memory");
    *b = (struct buffer){.holders = 1, .bytes = n};
    memcpy(b->at, bytes, n);
    return b;
}

struct buffer *buffer_hold(struct buffer *b)
{
    b->holders++;
    return b;
}

void buffer_drop(struct buffer *b)
{
    if (--b->holders == 0)
        free(b);
}

void buffer_seal(struct buffer *b)
{
    b->sealed = true;
    b->seal = crc32c(0, b->at, b->bytes);
}

bool buffer_is_intact(const struct buffer *b)
{
    return !b->sealed || crc32c(0, b->at, b->bytes) == b->seal;
}

void buffer_spoil(struct buffer *b)
{
    memset(b->at, 0xdb, b->bytes);
    buffer_seal(b);
}
