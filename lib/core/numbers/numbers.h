/* Floating-point tensors as SwitchML's numbers on the wire: blocks scaled by a power of two that all ranks
 * have agreed on, so that a switch which adds integers only can sum them (SwitchML paper, section 4.6 and
 * appendix E).
 *
 * A block is what one packet carries of a tensor. Its exponent e is the smallest with |x| < 2^e for all of
 * its elements. The ranks tell theirs, the switch returns the largest, and with that, for n ranks:
 *
 *     int32   q = x * f rounded to nearest, f = (2^31 - 1) / (n * 2^e)      sum = (q0 + q1 + ...) / f
 *     fp16    h = x / 2^e rounded to nearest                              sum = (h0 + h1 + ...) * 2^e
 *
 * That f is the published one. It leaves room for the roundings of 256 ranks; for more of them
 * f = (2^31 - n) / (n * 2^e), the largest that theorem 2 proves right. So the integers' sum never overflows.
 * It differs from the exact sum by at most n / f (theorem 1; by half of that, in fact). fp16: by at most n *
 * 2^(e - 12), and what the switch rounds.
 *
 * What has no scale: a block with a NaN, an infinity or an |x| >= 2^126, on any rank, has exponent
 * NUM_NOT_FINITE, the largest of all; all elements of its sum are NaN, on every rank. Zeros and denormals
 * have the exponent -126. A sum of zeros is +0. A sum beyond the type's range is an infinity.
 *
 * Pure and reentrant; rounding is the calling thread's floating-point environment, which is to be the default
 * one. Every table of loops returns the same bits for the same arguments.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "kernels/kernels.h"

/* A tensor's elements: float, IEEE binary16; in the order of the host. */
enum num_type { NUM_F32, NUM_F16, NUM_TYPES };

/* Their form on the wire: int32, big endian, as published; IEEE binary16, little endian. */
enum num_wire { NUM_INT32, NUM_FP16, NUM_WIRES };

enum {
    NUM_RANKS_AS_PUBLISHED = 256, /* as many can use the published factor without an overflow */

    NUM_NO_BLOCK = -128, /* there is no block, so no exponent: less than any exponent */
    NUM_EXPONENT_LEAST = -126,
    NUM_EXPONENT_MOST = 126,
    NUM_NOT_FINITE = 127,
};

/* The factors for elements on their way out, and for sums on their way back. */
struct num_scale {
    double out, back;
};

/* exponent: as the switch has returned it, which may be anything. 1 <= ranks <= AGG_MAX_WORKERS. */
struct num_scale num_scale(enum num_wire wire, unsigned ranks, int8_t exponent);

/* The exponent of n elements; of none: NUM_EXPONENT_LEAST. */
typedef int8_t num_exponent_fn(const void *block, size_t n);

/* n elements to the wire, or sums from there, each multiplied by the factor. No alignment required; the two
 * must not overlap. What is out of int32's range becomes +- (2^31 - 1), and so does a NaN. */
typedef void num_out_fn(void *wire, const void *block, size_t n, double factor);
typedef void num_back_fn(void *block, const void *wire, size_t n, double factor);

struct num_loops {
    const char *name; /* as of the kernels for the same instructions */
    num_exponent_fn *exponent[NUM_TYPES];
    num_out_fn *out[NUM_WIRES][NUM_TYPES];
    num_back_fn *back[NUM_WIRES][NUM_TYPES];
};

/* out for sums that are handed back: the way back makes these very elements of them, on whatever rank. */
void num_out_sums(const struct num_loops *loops, enum num_wire to, enum num_type type, void *wire,
                  const void *block, size_t n, const struct num_scale *factor);

/* Those for the instructions that these kernels use. */
const struct num_loops *num_loops_for(const struct agg_kernels *kernels);

/* Bytes of an element. */
static inline size_t num_type_bytes(enum num_type type)
{
    return type == NUM_F32 ? 4 : 2;
}
static inline size_t num_wire_bytes(enum num_wire wire)
{
    return wire == NUM_INT32 ? 4 : 2;
}
