#include "checksums.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <valgrind/callgrind.h>

#include "kernels/kernels.h"
#include "timing.h"
#include "wire/crc32c.h"

enum {
    ROUNDS = 20000,       /* a measurement */
    ROUNDS_COUNTED = 100, /* of instructions */
    MOST_BYTES = 9216,
    BEGIN = 34, /* where the UDP header lies in a frame that begins at a cache line */
};

/* Bytes that UDP's checksum covers: its header, the packet's own and 32, 256, 365, 2240 elements of 4 bytes.
 */
static const size_t lengths[] = {146, 1042, 1478, 8978};
enum { LENGTHS = sizeof lengths / sizeof *lengths };

static _Alignas(64) uint8_t frame[MOST_BYTES], other[MOST_BYTES], sums[MOST_BYTES];

/* One way to sum or copy a frame's bytes. */
struct way {
    const char *what, *name;
    agg_ones_sum_fn *ones_sum;
    crc32c_fn *crc32c;
};

static struct way all_ways[8];

static unsigned find_ways(void)
{
    static const char *const names[] = {"scalar", "avx2", "avx512", "neon"};
    unsigned n = 0;

    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        const struct agg_kernels *k = agg_kernels_get(names[i]);
        if (k != NULL)
            all_ways[n++] = (struct way){.what = "UDP", .name = names[i], .ones_sum = k->ones_sum};
    }
    all_ways[n++] = (struct way){.what = "CRC32C", .name = "scalar", .crc32c = crc32c_scalar};
    if (crc32c_vector() != NULL)
        all_ways[n++] = (struct way){.what = "CRC32C", .name = "sse4.2", .crc32c = crc32c_vector()};
    all_ways[n++] = (struct way){.what = "memcpy", .name = "libc"};
    return n;
}

NOT_INLINED static double time_checksum(const struct way *w, size_t bytes, unsigned rounds)
{
    double start = now_ns();

    for (unsigned i = 0; i < rounds; i++) {
        touch(frame);
        if (w->ones_sum != NULL)
            w->ones_sum(frame + BEGIN, bytes);
        else if (w->crc32c != NULL)
            w->crc32c(0, frame + BEGIN, bytes);
        else
            memcpy(other, frame + BEGIN, bytes);
        touch(other);
    }
    return (now_ns() - start) / rounds;
}

/* All ways take turns, so that other load on the machine affects all of them. */
static void print_length(unsigned ways, size_t bytes)
{
    double taken[8][REPEATS], memcpy_ns;

    for (unsigned i = 0; i < REPEATS; i++)
        for (unsigned w = 0; w < ways; w++)
            taken[w][i] = time_checksum(&all_ways[w], bytes, ROUNDS / (1 + (unsigned)bytes / 1024));
    memcpy_ns = median(taken[ways - 1], REPEATS);
    for (unsigned w = 0; w < ways; w++) {
        double ns = w + 1 == ways ? memcpy_ns : median(taken[w], REPEATS);

        printf("%-8s %-8s %6zu | %9.1f %9.1f %8.2f\n", all_ways[w].what, all_ways[w].name, bytes, ns,
               (double)bytes / ns, ns / memcpy_ns);
    }
}

/* Adds a float32 contribution and sums its bytes for UDP's checksum in one pass, on vectors of so many bytes;
 * to be compared with the kernels' two passes. */
#define DEFINE_ONE_PASS(name, instructions, vector_bytes)                                                    \
    typedef float f32_##name __attribute__((vector_size(vector_bytes)));                                     \
    typedef uint64_t u64_##name __attribute__((vector_size(vector_bytes)));                                  \
                                                                                                             \
    __attribute__((target(instructions)))                                                                    \
    NOT_INLINED static uint64_t one_pass_##name(uint8_t *acc, const uint8_t *in, size_t bytes)               \
    {                                                                                                        \
        u64_##name whole = {0}, upper = {0};                                                                 \
        uint64_t sum = 0;                                                                                    \
                                                                                                             \
        for (size_t at = 0; at < bytes; at += vector_bytes) {                                                \
            f32_##name a, b;                                                                                 \
            memcpy(&a, acc + at, vector_bytes);                                                              \
            memcpy(&b, in + at, vector_bytes);                                                               \
            whole += (u64_##name)b;                                                                          \
            upper += (u64_##name)b >> 32;                                                                    \
            a += b;                                                                                          \
            memcpy(acc + at, &a, vector_bytes);                                                              \
        }                                                                                                    \
        upper += whole - (upper << 32);                                                                      \
        for (size_t i = 0; i < vector_bytes / sizeof sum; i++)                                               \
            sum += upper[i];                                                                                 \
        return sum;                                                                                          \
    }

DEFINE_ONE_PASS(avx2, "avx2", 32)
DEFINE_ONE_PASS(avx512, "avx512f", 64)

typedef uint64_t one_pass_fn(uint8_t *acc, const uint8_t *in, size_t bytes);

NOT_INLINED static double time_two_passes(const struct agg_kernels *k, size_t bytes)
{
    double start = now_ns();

    for (unsigned i = 0; i < ROUNDS; i++) {
        touch(frame);
        k->ones_sum(frame, bytes);
        k->operations[agg_code(AGG_F32, AGG_SUM)].fold(sums, frame, bytes);
        touch(sums);
    }
    return (now_ns() - start) / ROUNDS;
}

NOT_INLINED static double time_one_pass(one_pass_fn *one_pass, size_t bytes)
{
    double start = now_ns();

    for (unsigned i = 0; i < ROUNDS; i++) {
        touch(frame);
        one_pass(sums, frame, bytes);
        touch(sums);
    }
    return (now_ns() - start) / ROUNDS;
}

static void print_passes(const char *name, one_pass_fn *one_pass, size_t bytes)
{
    const struct agg_kernels *k = agg_kernels_get(name);
    double two[REPEATS], one[REPEATS];

    if (k == NULL)
        return;
    for (unsigned i = 0; i < REPEATS; i++) {
        two[i] = time_two_passes(k, bytes);
        one[i] = time_one_pass(one_pass, bytes);
    }
    printf("%-8s %6zu | %9.1f %9.1f %9.1f\n", name, bytes, median(two, REPEATS), median(one, REPEATS),
           median(two, REPEATS) - median(one, REPEATS));
}

void checksums_print(void)
{
    const unsigned ways = find_ways();

    printf("\nChecksums, warm\n%-8s %-8s %6s | %9s %9s %8s\n", "of", "kernels", "bytes", "ns", "bytes/ns",
           "/ memcpy");
    for (unsigned i = 0; i < LENGTHS; i++)
        print_length(ways, lengths[i]);
    printf("\nA float32 contribution, warm: UDP's checksum and then the addition, or both in one pass\n%-8s "
           "%6s | %9s %9s "
           "%9s\n",
           "kernels", "bytes", "two ns", "one ns", "saved ns");
    for (size_t bytes = 1408; bytes <= 8960; bytes += 8960 - 1408) {
        print_passes("avx2", one_pass_avx2, bytes);
        print_passes("avx512", one_pass_avx512, bytes);
    }
}

void checksums_count(void)
{
    const unsigned ways = find_ways();

    for (unsigned i = 0; i < LENGTHS; i++)
        for (unsigned w = 0; w < ways; w++) {
            char row[128];

            snprintf(row, sizeof row, "%s,%s,%zu,%u", all_ways[w].what, all_ways[w].name, lengths[i],
                     ROUNDS_COUNTED);
            time_checksum(&all_ways[w], lengths[i], ROUNDS_COUNTED);
            CALLGRIND_DUMP_STATS_AT(row);
        }
}
