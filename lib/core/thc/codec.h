/* A worker's floats as THC's indices, sums of them, and floats again ("THC: Accelerating Distributed Deep
 * Learning Using Tensor Homomorphic Compression", Li et al., 2024, algorithm 3), block by block:
 *
 *   every worker    norm = thc_transform(block)              the largest norm is agreed among the workers
 *                   thc_encode(packed, block, largest)       packed goes out
 *                   thc_subtract(block, packed, largest)     what was not sent, to be added to the
 *                   thc_transform_back(block)                next round's block (error feedback)
 *   whoever sums    thc_add8 or thc_add16 for each worker, in any order
 *   every worker    thc_decode8 or thc_decode16, thc_transform_back: the mean of the workers' blocks
 *
 * The transform is the randomized Hadamard transform, R = H D x / sqrt(block): whatever the floats were, R's
 * are about normal with a standard deviation of norm / sqrt(block), which is what tables are made for. D's
 * signs follow from a seed that all workers share. A float becomes one of the two table values around it at
 * random, so that it is right in the mean; all workers' keys differ, so that their errors do not add up.
 * Beyond the table's bound floats are clamped, which only error feedback makes good.
 *
 * Packed: of each 64 floats, in the order of the tensor, bits * 8 bytes. Indices of 4 bits: byte i has the
 * index of float i in its low half and that of i + 32 in the other. Of 2: byte i (0..15) has those of i, i +
 * 16, i + 32, i + 48, from the low end on. Of 1: byte i (0..7) has those of i + 8 j in bit j. Of 3: their low
 * two bits as indices of 2 bits, then the third as indices of 1 bit.
 *
 * A block with a NaN or an infinity has a norm that is none, and so has every worker's result.
 *
 * Pure and reentrant. All instruction sets give the same bits.
 */
#pragma once

#include "kernels/kernels.h"
#include "thc/loops.h"
#include "thc/table.h"

enum { THC_LEAST_BLOCK = 64, THC_MOST_BLOCK = 1 << 30 };

struct thc_codec {
    struct thc_table table;
    uint32_t block; /* floats: a power of two, THC_LEAST_BLOCK..THC_MOST_BLOCK */
    /* The codec's own. */
    const struct thc_loops *loops;
    struct thc_steps steps;
    float by_root; /* 1 / sqrt(block) */
    float bound;   /* the table's */
};

/* False: the block is no power of two in that range, or the table is out of range. table: solved. */
bool thc_codec_init(struct thc_codec *c, const struct thc_table *table, uint32_t block,
                    const struct agg_kernels *kernels);

/* For blocks of another length, in that range. */
void thc_codec_resize(struct thc_codec *c, uint32_t block);

/* Bytes of a packed block. */
static inline size_t thc_packed_bytes(const struct thc_codec *c)
{
    return (size_t)c->block / 8 * c->table.bits;
}

/* The root of the sum of its squares: the same, but for rounding, before it is transformed and after. */
float thc_norm(const struct thc_codec *c, const float *block);

/* In place. Returns the block's norm. */
float thc_transform(const struct thc_codec *c, float *block, uint64_t seed);
void thc_transform_back(const struct thc_codec *c, float *block, uint64_t seed);

/* key: another one for each worker, block and round. */
void thc_encode(const struct thc_codec *c, uint8_t *packed, const float *block, float norm, uint32_t key);
void thc_subtract(const struct thc_codec *c, float *block, const uint8_t *packed, float norm);

/* The caller sees to it that sums fit (thc_granularity_for). Those of 16 bits are little endian, as they
 * travel. */
void thc_add8(const struct thc_codec *c, uint8_t *sums, const uint8_t *packed);
void thc_add16(const struct thc_codec *c, uint16_t *sums, const uint8_t *packed);

/* The mean of so many workers' blocks, still transformed. */
void thc_decode8(const struct thc_codec *c, float *block, const uint8_t *sums, unsigned workers, float norm);
void thc_decode16(const struct thc_codec *c, float *block, const uint16_t *sums, unsigned workers,
                  float norm);
/* The same of so many floats of the block, a multiple of THC_LEAST_BLOCK. sum_bits: 8 or 16. */
void thc_decode(const struct thc_codec *c, float *at, const void *sums, unsigned sum_bits, uint32_t floats,
                unsigned workers, float norm);
