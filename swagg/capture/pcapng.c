#include "capture/pcapng.h"

#include <string.h>

enum {
    SECTION = 0x0A0D0D0A,
    INTERFACE = 1,
    STATISTICS = 5,
    FRAME = 6,
    MAGIC = 0x1A2B3C4D,
    ETHERNET = 1,
    NANOSECONDS = 9,
    NAME_MAX_BYTES = 63,
};

/* Options, by block. */
enum { OPTION_END = 0, IF_NAME = 2, IF_TSRESOL = 9, EPB_FLAGS = 2, ISB_IFRECV = 4, ISB_IFDROP = 5 };

struct block {
    uint8_t *start, *at;
};

static void put16(struct block *b, uint16_t value)
{
    *b->at++ = (uint8_t)value;
    *b->at++ = (uint8_t)(value >> 8);
}

static void put32(struct block *b, uint32_t value)
{
    put16(b, (uint16_t)value);
    put16(b, (uint16_t)(value >> 16));
}

static void put64(struct block *b, uint64_t value)
{
    put32(b, (uint32_t)value);
    put32(b, (uint32_t)(value >> 32));
}

/* Times are written with their high half first. */
static void put_time(struct block *b, uint64_t time)
{
    put32(b, (uint32_t)(time >> 32));
    put32(b, (uint32_t)time);
}

static void put_padded(struct block *b, const void *bytes, size_t n)
{
    memcpy(b->at, bytes, n);
    b->at += n;
    for (; n % 4 != 0; n++)
        *b->at++ = 0;
}

static void put_option(struct block *b, uint16_t code, const void *value, size_t bytes)
{
    put16(b, code);
    put16(b, (uint16_t)bytes);
    put_padded(b, value, bytes);
}

static void put_option64(struct block *b, uint16_t code, uint64_t value)
{
    put16(b, code);
    put16(b, sizeof(value));
    put64(b, value);
}

static struct block begin(uint8_t *to, uint32_t type)
{
    struct block b = {.start = to, .at = to};

    put32(&b, type);
    put32(&b, 0); /* the length, which end() knows */
    return b;
}

static size_t end(struct block *b)
{
    const uint32_t bytes = (uint32_t)(b->at - b->start) + 4;
    struct block length = {.start = b->start, .at = b->start + 4};

    put32(b, bytes);
    put32(&length, bytes);
    return bytes;
}

size_t pcapng_section(uint8_t *to)
{
    struct block b = begin(to, SECTION);

    put32(&b, MAGIC);
    put16(&b, 1); /* version 1.0 */
    put16(&b, 0);
    put64(&b, UINT64_MAX); /* how long the section is, is not known yet */
    return end(&b);
}

size_t pcapng_interface(uint8_t *to, const char *name, uint32_t snap)
{
    const uint8_t resolution = NANOSECONDS;
    struct block b = begin(to, INTERFACE);

    put16(&b, ETHERNET);
    put16(&b, 0);
    put32(&b, snap);
    put_option(&b, IF_NAME, name, strnlen(name, NAME_MAX_BYTES));
    put_option(&b, IF_TSRESOL, &resolution, sizeof(resolution));
    put32(&b, OPTION_END);
    return end(&b);
}

size_t pcapng_frame(uint8_t *to, const struct pcapng_frame *frame)
{
    struct block b = begin(to, FRAME);

    put32(&b, frame->interface);
    put_time(&b, frame->time);
    put32(&b, frame->kept);
    put32(&b, frame->bytes);
    put_padded(&b, frame->data, frame->kept);
    put16(&b, EPB_FLAGS);
    put16(&b, 4);
    put32(&b, frame->direction);
    put32(&b, OPTION_END);
    return end(&b);
}

size_t pcapng_statistics(uint8_t *to, uint32_t interface, uint64_t time, uint64_t seen, uint64_t lost)
{
    struct block b = begin(to, STATISTICS);

    put32(&b, interface);
    put_time(&b, time);
    put_option64(&b, ISB_IFRECV, seen);
    put_option64(&b, ISB_IFDROP, lost);
    put32(&b, OPTION_END);
    return end(&b);
}
