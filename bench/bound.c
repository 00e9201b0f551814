/* Warm: few enough chunks for the L1 cache, or, if they are long, for the L2. Cold: every chunk has memory of
 * its own, and all of it is put out of every cache before each measurement. Each figure is the median of
 * REPEATS; the three of a row take turns, and ratios are of the same turn. */
#include "bound.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "cold.h"
#include "timing.h"

enum { WARM_CHUNKS = 2, COLD_CHUNKS = 1024, ROUNDS_WARM = 2048, STRIDE = 9216 };

#define BEST_CLONE __attribute__((target_clones("avx512f", "avx2", "default")))

#define DEFINE_LOOP(name, element)                                                                           \
    BEST_CLONE static void loop_##name(void *to, const void *from, size_t bytes)                             \
    {                                                                                                        \
        element *acc = to;                                                                                   \
        const element *in = from;                                                                            \
                                                                                                             \
        for (size_t i = 0; i < bytes / sizeof *acc; i++)                                                     \
            acc[i] += in[i];                                                                                 \
    }

DEFINE_LOOP(u32, uint32_t)
DEFINE_LOOP(u64, uint64_t)
DEFINE_LOOP(f32, float)
DEFINE_LOOP(f64, double)

/* With AVX-512, bytes are swapped by BW. */
__attribute__((target_clones("arch=x86-64-v4", "avx2", "default"))) static void
loop_swapped(void *to, const void *from, size_t bytes)
{
    uint32_t *acc = to;
    const uint32_t *in = from;

    for (size_t i = 0; i < bytes / sizeof *acc; i++)
        acc[i] = __builtin_bswap32(__builtin_bswap32(acc[i]) + __builtin_bswap32(in[i]));
}

static agg_fold_fn *const loops[AGG_TYPES] = {
    [AGG_I32] = loop_u32, [AGG_I64] = loop_u64, [AGG_F32] = loop_f32, [AGG_F64] = loop_f64};

void bare_loop(enum agg_type type, void *acc, const void *in, size_t bytes)
{
    loops[type](acc, in, bytes);
}

static uint8_t acc[COLD_CHUNKS][STRIDE] __attribute__((aligned(64)));
static uint8_t in[COLD_CHUNKS][STRIDE] __attribute__((aligned(64)));

static void cool(size_t bytes)
{
    for (unsigned i = 0; i < COLD_CHUNKS; i++) {
        cold_put_out(acc[i], bytes);
        cold_put_out(in[i], bytes);
    }
    __sync_synchronize();
}

/* Nanoseconds a chunk. */
NOT_INLINED static double time_chunks(agg_fold_fn *add, size_t bytes, bool cold)
{
    const unsigned chunks = cold ? COLD_CHUNKS : WARM_CHUNKS, n = cold ? COLD_CHUNKS : ROUNDS_WARM;

    if (cold)
        cool(bytes);
    double start = now_ns();
    for (unsigned i = 0; i < n; i++)
        add(acc[i % chunks], in[i % chunks], bytes);
    return (now_ns() - start) / n;
}

struct row {
    double kernel_ns, loop_ns, swapped_ns, by_loop, by_swapped;
};

/* Of zeros, which stay zeros. */
static struct row measure(const struct agg_kernels *k, enum agg_type type, size_t bytes, bool cold)
{
    agg_fold_fn *const fold = k->operations[agg_code(type, AGG_SUM)].fold;
    agg_fold_fn *const swapped = type == AGG_I32 ? loop_swapped : loops[type];
    double kernel[REPEATS], loop[REPEATS], swap[REPEATS], by_loop[REPEATS], by_swapped[REPEATS];

    for (unsigned i = 0; i < REPEATS; i++) {
        kernel[i] = time_chunks(fold, bytes, cold);
        loop[i] = time_chunks(loops[type], bytes, cold);
        swap[i] = time_chunks(swapped, bytes, cold);
        by_loop[i] = loop[i] / kernel[i];
        by_swapped[i] = swap[i] / kernel[i];
    }
    return (struct row){median(kernel, REPEATS), median(loop, REPEATS), median(swap, REPEATS),
                        median(by_loop, REPEATS), median(by_swapped, REPEATS)};
}

static void lower(struct bound_share *share, double value, bool cold)
{
    double *one = cold ? &share->cold : &share->warm;

    if (*one == 0 || value < *one)
        *one = value;
}

static void note(struct bound_shares *s, enum agg_type type, size_t bytes, bool cold, const struct row *r)
{
    if (type == AGG_F32)
        lower(&s->f32, r->by_loop, cold);
    if (type != AGG_I32)
        return;
    lower(&s->i32, r->by_loop, cold);
    lower(&s->i32_swapped, r->by_swapped, cold);
    if (bytes == 1024 && !cold)
        s->i32_ns = r->kernel_ns;
}

struct bound_shares bound_print(const struct agg_kernels *kernels)
{
    static const struct {
        enum agg_type type;
        const char *name;
    } types[] = {{AGG_I32, "i32"}, {AGG_I64, "i64"}, {AGG_F32, "f32"}, {AGG_F64, "f64"}};
    static const size_t lengths[] = {1024, 1456, 8960};
    struct bound_shares shares = {0};

    memset(acc, 0, sizeof acc); /* maps the pages */
    memset(in, 0, sizeof in);
    printf("\nSums alone: a kernel and the bare loop, in the machine's byte order and in the wire's\n"
           "%-4s %-6s %-8s %6s | %9s %9s %9s | %8s %8s\n",
           "type", "memory", "kernels", "bytes", "kernel ns", "loop ns", "swapped", "loop /", "swapped /");
    for (unsigned cold = 0; cold < 2; cold++)
        for (size_t i = 0; i < sizeof types / sizeof *types; i++)
            for (size_t j = 0; j < sizeof lengths / sizeof *lengths; j++) {
                const struct row r = measure(kernels, types[i].type, lengths[j], cold);

                printf("%-4s %-6s %-8s %6zu | %9.1f %9.1f %9.1f | %8.2f %8.2f\n", types[i].name,
                       cold ? "cold" : "warm", kernels->name, lengths[j], r.kernel_ns, r.loop_ns,
                       r.swapped_ns, r.by_loop, r.by_swapped);
                note(&shares, types[i].type, lengths[j], cold, &r);
            }
    return shares;
}
