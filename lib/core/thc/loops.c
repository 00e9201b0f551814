/* The loops, in plain C and GCC's vectors. Built once for each instruction set (meson.build): NAME is that of
 * its kernels, TABLE what the table is called. Each number is added and multiplied in the same order
 * everywhere. */
#include "thc/loops.h"

#include <string.h>
#if defined(__SSE2__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

#include "random/splitmix.h"

#define INLINE static inline __attribute__((always_inline))

/* As many as a register has, so that none is kept in memory in between. */
#if defined(__AVX512F__)
enum { LANES = 16 };
#elif defined(__AVX2__)
enum { LANES = 8 };
#else
enum { LANES = 4 };
#endif

typedef float vector __attribute__((vector_size(4 * LANES)));
typedef uint32_t bits32 __attribute__((vector_size(4 * LANES)));

INLINE vector load(const float *x)
{
    vector v;

    memcpy(&v, x, sizeof v);
    return v;
}

INLINE void store(float *x, vector v)
{
    memcpy(x, &v, sizeof v);
}

/* --- transform --- */

#if defined(__AVX512F__)
static const bits32 lane = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
#elif defined(__AVX2__)
static const bits32 lane = {0, 1, 2, 3, 4, 5, 6, 7};
#else
static const bits32 lane = {0, 1, 2, 3};
#endif

/* 64 random bits for 64 numbers. */
static void flip(float *x, size_t n, uint64_t seed)
{
    const uint64_t begin = splitmix_hash(seed);

    for (size_t group = 0; group < n / THC_GROUP; group++) {
        const uint64_t random = splitmix_hash(begin + group);

        for (unsigned i = 0; i < THC_GROUP; i += LANES) {
            const uint32_t some = (uint32_t)(random >> i);
            float *at = x + group * THC_GROUP + i;

            store(at, (vector)((bits32)load(at) ^ ((some - (bits32){0}) << (31 - lane) & 0x80000000u)));
        }
    }
}

/* Sums and differences of lanes whose numbers differ in the bit `apart`: a + b, and in b's place a - b. */
#define WITHIN(v, apart, ...)                                                                                \
    (__builtin_shufflevector(v, v, __VA_ARGS__) +                                                            \
     (vector)((bits32)(v) ^ (lane & (apart)) * (0x80000000u / (apart))))

INLINE vector within_lanes(vector v)
{
#if defined(__AVX512F__)
    v = WITHIN(v, 1, 1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14);
    v = WITHIN(v, 2, 2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13);
    v = WITHIN(v, 4, 4, 5, 6, 7, 0, 1, 2, 3, 12, 13, 14, 15, 8, 9, 10, 11);
    return WITHIN(v, 8, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7);
#elif defined(__AVX2__)
    v = WITHIN(v, 1, 1, 0, 3, 2, 5, 4, 7, 6);
    v = WITHIN(v, 2, 2, 3, 0, 1, 6, 7, 4, 5);
    return WITHIN(v, 4, 4, 5, 6, 7, 0, 1, 2, 3);
#else
    v = WITHIN(v, 1, 1, 0, 3, 2);
    return WITHIN(v, 2, 2, 3, 0, 1);
#endif
}

static void hadamard(float *x, size_t n, float scale)
{
    for (size_t i = 0; i < n; i += LANES)
        store(x + i, within_lanes(load(x + i) * scale));
    for (size_t apart = LANES; apart < n; apart *= 2)
        for (size_t pair = 0; pair < n; pair += 2 * apart)
            for (size_t i = pair; i < pair + apart; i += LANES) {
                const vector a = load(x + i), b = load(x + i + apart);

                store(x + i, a + b);
                store(x + i + apart, a - b);
            }
}

enum { SUMMED = 1 << 16 /* floats whose squares are summed as floats */ };

/* Sixteen sums, whatever a register has room for. Of so few floats that none is lost beside what is there. */
static float squares(const float *x, size_t n)
{
    float sums[16] = {0}, sum = 0;

    for (size_t i = 0; i < n; i += 16)
        for (unsigned j = 0; j < 16; j++)
            sums[j] += x[i + j] * x[i + j];
    for (unsigned j = 0; j < 16; j++)
        sum += sums[j];
    return sum;
}

static float norm(const float *x, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i += SUMMED)
        sum += (double)squares(x + i, n - i < SUMMED ? n - i : SUMMED);
    return __builtin_sqrtf((float)sum);
}

/* --- indices --- */

typedef int32_t ints32 __attribute__((vector_size(4 * LANES)));
typedef int8_t ints8 __attribute__((vector_size(4 * LANES)));

/* Every bit of the result depends on every bit of x. */
INLINE bits32 mix(bits32 x)
{
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    return x ^ x >> 16;
}

/* Not a number becomes 0. */
INLINE float clamped(float place, float most)
{
    place = place > 0 ? place : 0;
    return place < most ? place : most;
}

/* Of a table of 16, by LANES indices. */
INLINE vector pick(const float table[THC_MOST_VALUES], const uint8_t *index)
{
#if defined(__AVX512F__)
    const __m512i at = _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)index));

    return (vector)_mm512_permutexvar_ps(at, _mm512_loadu_ps(table));
#elif defined(__AVX2__)
    const __m256i at = _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)index));
    const __m256 low = _mm256_permutevar8x32_ps(_mm256_loadu_ps(table), at),
                 high = _mm256_permutevar8x32_ps(_mm256_loadu_ps(table + LANES), at);

    return (vector)_mm256_blendv_ps(low, high, (__m256)_mm256_slli_epi32(at, 28)); /* by their fourth bits */
#else
    return (vector){table[index[0]], table[index[1]], table[index[2]], table[index[3]]};
#endif
}

enum { PARTS = 4 }; /* vectors of numbers whose bytes are one vector */

/* Numbers that fit a byte with a sign, as bytes. */
INLINE ints8 narrow(const ints32 v[PARTS])
{
#if defined(__AVX512F__)
    const __m512i low = _mm512_packs_epi32((__m512i)v[0], (__m512i)v[1]),
                  high = _mm512_packs_epi32((__m512i)v[2], (__m512i)v[3]);

    return (ints8)_mm512_permutexvar_epi32(
        _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15),
        _mm512_packs_epi16(low, high));
#elif defined(__AVX2__)
    const __m256i low = _mm256_packs_epi32((__m256i)v[0], (__m256i)v[1]),
                  high = _mm256_packs_epi32((__m256i)v[2], (__m256i)v[3]);

    return (ints8)_mm256_permutevar8x32_epi32(_mm256_packs_epi16(low, high),
                                              _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
#elif defined(__SSE2__)
    return (ints8)_mm_packs_epi16(_mm_packs_epi32((__m128i)v[0], (__m128i)v[1]),
                                  _mm_packs_epi32((__m128i)v[2], (__m128i)v[3]));
#else
    ints8 bytes;

    for (unsigned i = 0; i < sizeof bytes; i++)
        bytes[i] = (int8_t)v[i / LANES][i % LANES];
    return bytes;
#endif
}

/* count, and one more where a number is above. */
INLINE ints8 count_above(ints8 count, ints8 number, ints8 than)
{
#if defined(__AVX512F__)
    return (ints8)_mm512_mask_sub_epi8((__m512i)count, _mm512_cmpgt_epi8_mask((__m512i)number, (__m512i)than),
                                       (__m512i)count, _mm512_set1_epi8(-1));
#else
    return count - (number > than);
#endif
}

/* Of each place how many of the inner values are at or below it. */
INLINE ints8 find_steps(const float *place, const struct thc_steps *s)
{
    ints32 at[PARTS];
    ints8 bytes, count = {0};

    for (unsigned part = 0; part < PARTS; part++)
        at[part] = __builtin_convertvector(load(place + part * LANES), ints32) - 128;
    bytes = narrow(at);
    for (unsigned i = 0; i < THC_MOST_VALUES - 2; i++) {
        ints8 below;

        memcpy(&below, s->below[i], sizeof below);
        count = count_above(count, bytes, below);
    }
    return count;
}

/* Of each place, whose index is given: -1, if it becomes the next table value rather than that of its index.
 * number: of the places, times the golden ratio, modulo 2^32. */
INLINE ints8 draw(const uint8_t *index, const float *place, const struct thc_steps *s, uint32_t key,
                  bits32 number)
{
    ints32 up[PARTS];

    for (unsigned part = 0; part < PARTS; part++, number += LANES * 0x9e3779b9u) {
        const vector random = __builtin_convertvector((ints32)(mix(number ^ key) >> 8), vector);
        const uint8_t *at = index + part * LANES;

        up[part] = random < (load(place + part * LANES) - pick(s->value, at)) * pick(s->by_step, at);
    }
    return narrow(up);
}

/* first: the number of x[0], modulo 2^32. */
INLINE void round_group(uint8_t index[THC_GROUP], const float *x, const struct thc_steps *s, float factor,
                        uint32_t key, uint32_t first)
{
    float place[THC_GROUP];

    for (unsigned i = 0; i < THC_GROUP; i++)
        place[i] = clamped(x[i] * factor + s->granularity / 2, s->granularity);
    for (unsigned i = 0; i < THC_GROUP; i += sizeof(ints8)) {
        ints8 steps = find_steps(place + i, s);

        memcpy(index + i, &steps, sizeof steps);
        steps -= draw(index + i, place + i, s, key, (lane + (first + i)) * 0x9e3779b9u);
        memcpy(index + i, &steps, sizeof steps);
    }
}

INLINE void pack_plane(uint8_t *packed, const uint8_t index[THC_GROUP], unsigned shift, unsigned bits)
{
    const unsigned bytes = 8 * bits;

    for (unsigned i = 0; i < bytes; i++) {
        unsigned byte = 0;

        for (unsigned j = 0; j < 8 / bits; j++)
            byte |= (index[i + bytes * j] >> shift & ((1u << bits) - 1)) << bits * j;
        packed[i] = (uint8_t)byte;
    }
}

INLINE void unpack_plane(uint8_t index[THC_GROUP], const uint8_t *packed, unsigned shift, unsigned bits)
{
    const unsigned bytes = 8 * bits;

    for (unsigned j = 0; j < 8 / bits; j++)
        for (unsigned i = 0; i < bytes; i++)
            index[i + bytes * j] |= (uint8_t)((packed[i] >> bits * j & ((1u << bits) - 1)) << shift);
}

INLINE void pack(uint8_t *packed, const uint8_t index[THC_GROUP], unsigned bits)
{
    if (bits == 4)
        pack_plane(packed, index, 0, 4);
    else if (bits >= 2)
        pack_plane(packed, index, 0, 2);
    if (bits % 2 != 0)
        pack_plane(packed + 8 * (bits - 1), index, bits - 1, 1);
}

INLINE void unpack(uint8_t index[THC_GROUP], const uint8_t *packed, unsigned bits)
{
    memset(index, 0, THC_GROUP);
    if (bits == 4)
        unpack_plane(index, packed, 0, 4);
    else if (bits >= 2)
        unpack_plane(index, packed, 0, 2);
    if (bits % 2 != 0)
        unpack_plane(index, packed + 8 * (bits - 1), bits - 1, 1);
}

static void quantise(uint8_t *packed, const float *x, size_t n, unsigned bits, const struct thc_steps *steps,
                     float factor, uint32_t key)
{
    uint8_t index[THC_GROUP];

    for (size_t i = 0; i < n; i += THC_GROUP, packed += 8 * bits) {
        round_group(index, x + i, steps, factor, key, (uint32_t)i);
        pack(packed, index, bits);
    }
}

/* --- values --- */

/* 16 bytes of a table of 16, by index. */
INLINE void look_up_16(uint8_t *at, const uint8_t *values)
{
#if defined(__SSSE3__)
    _mm_storeu_si128((__m128i *)at, _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)values),
                                                     _mm_loadu_si128((const __m128i *)at)));
#elif defined(__aarch64__)
    vst1q_u8(at, vqtbl1q_u8(vld1q_u8(values), vld1q_u8(at)));
#else
    for (unsigned i = 0; i < THC_MOST_VALUES; i++)
        at[i] = values[at[i]];
#endif
}

INLINE void look_up(uint8_t group[THC_GROUP], const uint8_t *packed, unsigned bits, const uint8_t *values)
{
    unpack(group, packed, bits);
    for (unsigned i = 0; i < THC_GROUP; i += THC_MOST_VALUES)
        look_up_16(group + i, values);
}

/* Sums travel, and lie in memory, with the low byte first. */
#define LITTLE8(x) (x)
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define LITTLE16(x) __builtin_bswap16(x)
#else
#define LITTLE16(x) (x)
#endif

#define DEFINE_SUMS(width)                                                                                   \
    static void add##width(uint##width##_t *sums, const uint8_t *packed, size_t n, unsigned bits,            \
                           const uint8_t *values)                                                            \
    {                                                                                                        \
        uint8_t group[THC_GROUP];                                                                            \
                                                                                                             \
        for (size_t i = 0; i < n; i += THC_GROUP, packed += 8 * bits) {                                      \
            look_up(group, packed, bits, values);                                                            \
            for (unsigned j = 0; j < THC_GROUP; j++)                                                         \
                sums[i + j] = LITTLE##width((uint##width##_t)(LITTLE##width(sums[i + j]) + group[j]));       \
        }                                                                                                    \
    }                                                                                                        \
                                                                                                             \
    static void decode##width(float *x, const uint##width##_t *sums, size_t n, float middle, float factor)   \
    {                                                                                                        \
        for (size_t i = 0; i < n; i++)                                                                       \
            x[i] = ((float)LITTLE##width(sums[i]) - middle) * factor;                                        \
    }

DEFINE_SUMS(8)
DEFINE_SUMS(16)

static void subtract(float *x, const uint8_t *packed, size_t n, unsigned bits, const uint8_t *values,
                     float middle, float factor)
{
    uint8_t group[THC_GROUP];

    for (size_t i = 0; i < n; i += THC_GROUP, packed += 8 * bits) {
        look_up(group, packed, bits, values);
        for (unsigned j = 0; j < THC_GROUP; j++)
            x[i + j] -= ((float)group[j] - middle) * factor;
    }
}

const struct thc_loops TABLE = {
    .name = NAME,
    .flip = flip,
    .hadamard = hadamard,
    .norm = norm,
    .quantise = quantise,
    .add8 = add8,
    .add16 = add16,
    .decode8 = decode8,
    .decode16 = decode16,
    .subtract = subtract,
};
