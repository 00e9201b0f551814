#include "operations.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "kernels_chosen.h"
#include "numbers/numbers.h"
#include "timing.h"

enum { KIB = 4, BYTES = 1024 * KIB, FLOATS = BYTES / sizeof(float), ROUNDS = 2000 };

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

/* A fold, a copy or a conversion. */
typedef agg_fold_fn work_fn;

/* Nanoseconds a KiB. */
NOT_INLINED static double time_work(work_fn *work)
{
    double start = now_ns();

    for (unsigned i = 0; i < ROUNDS; i++) {
        work(acc, in, BYTES);
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

static double measure(work_fn *work)
{
    double ns[REPEATS];

    for (unsigned i = 0; i < REPEATS; i++)
        ns[i] = time_work(work);
    return median(ns, REPEATS);
}

static void write_operations(const struct agg_kernels *k)
{
    const char *comma = "";

    printf(" \"operations\": [");
    for (unsigned op = 1; op < AGG_OPS; op++)
        for (unsigned type = 1; type < AGG_TYPES; type++)
            if (agg_element_size(type, op) != 0) {
                printf("%s\n  {\"op\": \"%s\", \"type\": \"%s\", \"ns\": %.2f}", comma, ops[op], types[type],
                       measure(k->operations[agg_code(type, op)].fold));
                comma = ",";
            }
    printf("],\n");
}

/* What is done to a block of floats that travels as SwitchML's numbers do. */
static const struct num_loops *loops;
static const double factor = 1;

static void to_int32(void *to, const void *from, size_t bytes)
{
    loops->out[NUM_INT32][NUM_F32](to, from, bytes / sizeof(float), factor);
}

static void from_int32(void *to, const void *from, size_t bytes)
{
    loops->back[NUM_INT32][NUM_F32](to, from, bytes / sizeof(float), factor);
}

static void to_fp16(void *to, const void *from, size_t bytes)
{
    loops->out[NUM_FP16][NUM_F32](to, from, bytes / sizeof(float), factor);
}

static void from_fp16(void *to, const void *from, size_t bytes)
{
    loops->back[NUM_FP16][NUM_F32](to, from, bytes / sizeof(float), factor);
}

static void find_exponent(void *to, const void *from, size_t bytes)
{
    *(int8_t *)to = loops->exponent[NUM_F32](from, bytes / sizeof(float));
}

static void write_conversions(const struct agg_kernels *k)
{
    static const struct {
        const char *name;
        work_fn *convert;
    } rows[] = {{"exponent", find_exponent}, {"to int32", to_int32},   {"from int32", from_int32},
                {"to fp16", to_fp16},        {"from fp16", from_fp16}, {"memcpy", copy}};

    loops = num_loops_for(k);
    printf(" \"conversions\": [");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        printf("%s\n  {\"what\": \"%s\", \"ns\": %.4f}", i > 0 ? "," : "", rows[i].name,
               measure(rows[i].convert) * KIB / FLOATS);
    printf("]}\n");
}

void operations_write(void)
{
    const struct agg_kernels *k = kernels_or_exit();

    printf("{\"kernels\": \"%s\", \"memcpy\": %.2f, \"loop\": %.2f,\n", k->name, measure(copy),
           measure(bare_loop));
    write_operations(k);
    write_conversions(k);
}
