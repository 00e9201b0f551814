#include "operations.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "kernels/kernels.h"
#include "timing.h"

enum { KIB = 4, BYTES = 1024 * KIB, ROUNDS = 500 };

static const char *const types[AGG_TYPES] = {
    [AGG_I8] = "i8",   [AGG_I16] = "i16", [AGG_I32] = "i32", [AGG_I64] = "i64",   [AGG_U8] = "u8",
    [AGG_U16] = "u16", [AGG_U32] = "u32", [AGG_U64] = "u64", [AGG_F16] = "f16",   [AGG_BF16] = "bf16",
    [AGG_F32] = "f32", [AGG_F64] = "f64", [AGG_C64] = "c64", [AGG_C128] = "c128", [AGG_BOOL] = "bool"};
static const char *const ops[AGG_OPS] = {
    [AGG_SUM] = "sum",       [AGG_PROD] = "prod",       [AGG_MIN] = "min",        [AGG_MAX] = "max",
    [AGG_LAND] = "land",     [AGG_LOR] = "lor",         [AGG_LXOR] = "lxor",      [AGG_BAND] = "band",
    [AGG_BOR] = "bor",       [AGG_BXOR] = "bxor",       [AGG_AVG] = "avg",        [AGG_MINLOC] = "minloc",
    [AGG_MAXLOC] = "maxloc", [AGG_MINPAIR] = "minpair", [AGG_MAXPAIR] = "maxpair"};

/* Zeros, which every operation leaves zeros; an accumulator may be twice as long. */
static uint8_t acc[2 * BYTES] __attribute__((aligned(64))), in[BYTES] __attribute__((aligned(64)));

NOT_INLINED static double time_fold(agg_fold_fn *fold)
{
    double start = now_ns();

    for (unsigned i = 0; i < ROUNDS; i++) {
        fold(acc, in, BYTES);
        touch(acc);
    }
    return (now_ns() - start) / ROUNDS / KIB;
}

static void copy(void *to, const void *from, size_t bytes)
{
    memcpy(to, from, bytes);
}

__attribute__((target_clones("avx512f", "avx2", "default"))) static void bare_loop(void *to, const void *from,
                                                                                   size_t bytes)
{
    float *x = to;
    const float *y = from;

    for (size_t i = 0; i < bytes / sizeof *x; i++)
        x[i] += y[i];
}

static double measure(agg_fold_fn *fold)
{
    double ns[REPEATS];

    for (unsigned i = 0; i < REPEATS; i++)
        ns[i] = time_fold(fold);
    return median(ns);
}

void operations_print(void)
{
    const struct agg_kernels *k = agg_kernels_best();

    printf("\nOperations, warm: nanoseconds a KiB of contributions, %s; memcpy %.1f, a bare loop that adds "
           "f32 %.1f\n",
           k->name, measure(copy), measure(bare_loop));
    printf("%-8s", "");
    for (unsigned type = 1; type < AGG_TYPES; type++)
        printf(" %6s", types[type]);
    for (unsigned op = 1; op < AGG_OPS; op++) {
        printf("\n%-8s", ops[op]);
        for (unsigned type = 1; type < AGG_TYPES; type++)
            if (agg_element_size(type, op) != 0)
                printf(" %6.1f", measure(k->operations[agg_code(type, op)].fold));
            else
                printf(" %6s", "");
    }
    printf("\n");
}
