/* The numbers that elements are made of; for reference*.c only. */
#pragma once

#include <string.h>

#include "reference.h"

/* Integers and bool: bytes; 0 for other types. Inline, like what follows: tests spend most of their time
 * here. */
static inline unsigned integer_bytes(unsigned type)
{
    static const uint8_t bytes[AGG_TYPES] = {
        [AGG_I8] = 1,  [AGG_I16] = 2, [AGG_I32] = 4, [AGG_I64] = 8, [AGG_U8] = 1,
        [AGG_U16] = 2, [AGG_U32] = 4, [AGG_U64] = 8, [AGG_BOOL] = 1};
    return bytes[type];
}

static inline bool integer_is_signed(unsigned type)
{
    return type == AGG_I8 || type == AGG_I16 || type == AGG_I32 || type == AGG_I64;
}

/* memcpy of a number. Of a length that the compiler does not know, that is a call, and to read eight bytes
 * after it has written one waits for the memory. */
static inline void copy_number(void *to, const void *from, size_t bytes)
{
    switch (bytes) {
    case 1:
        memcpy(to, from, 1);
        break;
    case 2:
        memcpy(to, from, 2);
        break;
    case 4:
        memcpy(to, from, 4);
        break;
    default:
        memcpy(to, from, 8);
        break;
    }
}

/* In 64 bits, with its sign; what is written is cut off. */
static inline uint64_t integer_get(unsigned type, const void *p)
{
    uint8_t x8;
    uint16_t x16;
    uint32_t x32;
    uint64_t x64;

    switch (integer_bytes(type)) {
    case 1:
        memcpy(&x8, p, sizeof x8);
        return integer_is_signed(type) ? (uint64_t)(int8_t)x8 : x8;
    case 2:
        memcpy(&x16, p, sizeof x16);
        return integer_is_signed(type) ? (uint64_t)(int16_t)x16 : x16;
    case 4:
        memcpy(&x32, p, sizeof x32);
        return integer_is_signed(type) ? (uint64_t)(int32_t)x32 : x32;
    default:
        memcpy(&x64, p, sizeof x64);
        return x64;
    }
}

static inline void integer_put(unsigned type, void *p, uint64_t x)
{
    copy_number(p, &x, integer_bytes(type));
}

/* Floats of 16 bits: of so many digits, the last of them worth at least 2^least. */
struct half {
    int digits, least, bias;
    double most;
};
extern const struct half half_binary16, half_bfloat16;
static inline bool half_is(unsigned type)
{
    return type == AGG_F16 || type == AGG_BF16;
}
static inline const struct half *half_of(unsigned type)
{
    return type == AGG_F16 ? &half_binary16 : &half_bfloat16;
}
double half_get(const struct half *h, uint16_t bits);
uint16_t half_put(const struct half *h, double x); /* to nearest even */

/* Numbers in an element, each in its share of the bytes: a pair and a complex one have two. */
unsigned parts_of(unsigned code, unsigned types[2]);
static inline size_t part_bytes(unsigned type)
{
    return half_is(type) ? 2 : type == AGG_F32 ? 4 : type == AGG_F64 ? 8 : integer_bytes(type);
}
/* Of any type but the complex ones: all values fit. */
long double part_get(unsigned type, const void *p);

static inline bool part_is_float(unsigned type)
{
    return integer_bytes(type) == 0;
}
