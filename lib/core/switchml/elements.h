/* What the packets of a typed job carry, by their code (byte 8, kernels.h): numbers of a type, to be combined
 * by an operation; or, if the operation is 0, indices into the job's table, whose values are to be added
 * ("THC: Accelerating Distributed Deep Learning Using Tensor Homomorphic Compression", Li et al., 2024). Then
 * the type says how long indices and sums are: the sum is longer than each contribution. Pure and reentrant.
 */
#pragma once

#include "kernels/kernels.h"

struct thc_table;

enum {
    SML_LOOK_UP = 0,   /* the operation */
    SML_WIDE_SUMS = 8, /* in the type: sums are uint16, little endian, not uint8; the rest are bits of an
                          index, 1..SML_INDEX_BITS_MAX */
    SML_INDEX_BITS_MAX = 4,
    SML_INDICES_MAX = 1 << SML_INDEX_BITS_MAX,
    SML_LOOK_UP_CHUNK_MIN = 128, /* bytes: a chunk has room for one of the longest elements */
    SML_GROUP = 64,        /* indices or sums that are one element; thc/codec.h says how indices are packed */
    SML_MEANS = SML_GROUP, /* in the call's root: the ranks divide the sums. All else in it, less than
                              SML_GROUP, is how many numbers only fill the last element up */
};

/* The table of a job: what each index stands for. */
struct sml_table {
    uint8_t code;                    /* of the calls that use it; 0: the job has none */
    uint8_t values[SML_INDICES_MAX]; /* by index, ascending; those beyond its bits are 0 */
};

/* Bytes of an element in a contribution, and in the sum. */
struct sml_element {
    size_t in, out;
};

static inline bool sml_looks_up(uint8_t code)
{
    return agg_code_op(code) == SML_LOOK_UP;
}

/* Of a code that looks up. */
static inline unsigned sml_index_bits(uint8_t code)
{
    return code & (SML_WIDE_SUMS - 1);
}
static inline unsigned sml_sum_bits(uint8_t code)
{
    return code & SML_WIDE_SUMS ? 16 : 8;
}
/* Of so many elements, and the root of such a call. */
static inline uint64_t sml_numbers(uint64_t elements, uint32_t root)
{
    return elements * SML_GROUP - root % SML_GROUP;
}

/* How long elements are; both 0: there is no such code. */
static inline struct sml_element sml_element_of(uint8_t code)
{
    const size_t same = agg_code_bytes(code);

    if (!sml_looks_up(code))
        return (struct sml_element){same, same};
    if (sml_index_bits(code) < 1 || sml_index_bits(code) > SML_INDEX_BITS_MAX)
        return (struct sml_element){0, 0};
    return (struct sml_element){SML_GROUP / 8 * sml_index_bits(code), SML_GROUP / 8 * sml_sum_bits(code)};
}

/* The type whose byte order elements have. Indices and sums travel as they lie in memory. */
static inline enum agg_type sml_order_of(uint8_t code)
{
    return sml_looks_up(code) ? AGG_U8 : (enum agg_type)agg_code_type(code);
}

/* A body of sums has this length if one of indices has that length; call_bytes are in front of either. Not
 * inline: what adds numbers is not to pay for it. */
size_t sml_length_of_sums(uint8_t code, size_t call_bytes, size_t length);
size_t sml_length_of_indices(uint8_t code, size_t call_bytes, size_t length);

/* Whether so many bytes are whole elements that a contribution, or a sum, may have, and the sum is at most
 * chunk_bytes long. Of a code that looks up. */
bool sml_whole_elements(uint8_t code, bool sums, size_t bytes, size_t chunk_bytes);

/* The table by which the ranks' numbers become indices, with sums of so many bits, as a job's. */
struct sml_table sml_table_of(const struct thc_table *t, unsigned sum_bits);

/* Whether it is a job's table: of a code that there is, its values ascending from 0. */
bool sml_table_valid(const struct sml_table *t);

/* Of a table that is valid: its greatest value; whether the sum of so many ranks' values always fits. */
static inline uint8_t sml_table_greatest(const struct sml_table *t)
{
    return t->values[(1u << sml_index_bits(t->code)) - 1];
}
static inline bool sml_table_fits(const struct sml_table *t, unsigned ranks)
{
    return sml_table_greatest(t) * ranks < 1u << sml_sum_bits(t->code);
}
