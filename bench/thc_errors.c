#include "thc_errors.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "random/splitmix.h"
#include "thc/codec.h"

enum { BLOCK = 4096 };

static const unsigned workers[] = {1, 2, 4, 8, 16, 32, 64};

static vector mean;
static float block[WORKERS_MOST][BLOCK];
static uint16_t sums[BLOCK];
static uint8_t packed[BLOCK / 2];

static const float *of(const struct vectors *v, unsigned worker)
{
    return v->of[worker % v->given];
}

static double error_of_mean(const struct vectors *v, unsigned n)
{
    double error = 0, whole = 0;

    for (size_t i = 0; i < VECTOR_FLOATS; i++) {
        double x = 0;

        for (unsigned worker = 0; worker < n; worker++)
            x += (double)of(v, worker)[i] / n;
        error += ((double)mean[i] - x) * ((double)mean[i] - x);
        whole += x * x;
    }
    return error / whole;
}

/* What comes of n workers' block: encoded by each, added, decoded. */
static void send_block(const struct thc_codec *c, const struct vectors *v, unsigned n, size_t at)
{
    const uint64_t round = at + n;
    float norm = 0;

    memset(sums, 0, sizeof sums);
    for (unsigned worker = 0; worker < n; worker++) {
        memcpy(block[worker], of(v, worker) + at, sizeof block[worker]);
        norm = fmaxf(norm, thc_transform(c, block[worker], round));
    }
    for (unsigned worker = 0; worker < n; worker++) {
        thc_encode(c, packed, block[worker], norm, (uint32_t)splitmix_hash(round * WORKERS_MOST + worker));
        thc_add16(c, sums, packed);
    }
    thc_decode16(c, mean + at, sums, n, norm);
    thc_transform_back(c, mean + at, round);
}

static double thc_error(const struct thc_table *table, const struct vectors *v, unsigned n,
                        const struct agg_kernels *kernels)
{
    struct thc_codec c;

    thc_codec_init(&c, table, BLOCK, kernels);
    for (size_t at = 0; at < VECTOR_FLOATS; at += BLOCK)
        send_block(&c, v, n, at);
    return error_of_mean(v, n);
}

/* The standard deviation. */
static float sigma_of(const float *x)
{
    double sum = 0, squares = 0;

    for (size_t i = 0; i < VECTOR_FLOATS; i++) {
        sum += (double)x[i];
        squares += (double)x[i] * (double)x[i];
    }
    return (float)sqrt((squares - sum * sum / VECTOR_FLOATS) / VECTOR_FLOATS);
}

/* Each number is the largest of all workers', with its sign, at random, or 0; right in the mean. Before that
 * each worker's are clipped to so much. */
static double terngrad_error(const struct vectors *v, unsigned n, const float most[])
{
    uint64_t state = n;
    float scale = 0;

    memset(mean, 0, sizeof mean);
    for (unsigned worker = 0; worker < n; worker++)
        for (size_t i = 0; i < VECTOR_FLOATS; i++)
            scale = fmaxf(scale, fminf(fabsf(of(v, worker)[i]), most[worker % v->given]));
    for (unsigned worker = 0; worker < n; worker++)
        for (size_t i = 0; i < VECTOR_FLOATS; i++)
            if (uniform_01(&state) <
                (double)(fminf(fabsf(of(v, worker)[i]), most[worker % v->given]) / scale))
                mean[i] += copysignf(scale / (float)n, of(v, worker)[i]);
    return error_of_mean(v, n);
}

static int by_size(const void *a, const void *b)
{
    const float x = fabsf(*(const float *)a), y = fabsf(*(const float *)b);

    return (x < y) - (x > y);
}

/* What the largest tenth of a vector is larger than. */
static float tenth(const float *x)
{
    static vector sorted;

    memcpy(sorted, x, sizeof sorted);
    qsort(sorted, VECTOR_FLOATS, sizeof *sorted, by_size);
    return fabsf(sorted[VECTOR_FLOATS / 10]);
}

/* Each worker sends its largest tenth. */
static double topk_error(const struct vectors *v, unsigned n, const float least[])
{
    memset(mean, 0, sizeof mean);
    for (unsigned worker = 0; worker < n; worker++)
        for (size_t i = 0; i < VECTOR_FLOATS; i++)
            if (fabsf(of(v, worker)[i]) > least[worker % v->given])
                mean[i] += of(v, worker)[i] / (float)n;
    return error_of_mean(v, n);
}

/* Of the larger granularities n workers take sums of 16 bits. */
static void print_way(const struct vectors *v, uint8_t bits, unsigned one_in, unsigned n,
                      const struct agg_kernels *kernels)
{
    struct thc_table t = {.bits = bits, .granularity = 30, .fraction = 1.0 / one_in}, even = t;

    even.granularity = (uint8_t)((1u << bits) - 1);
    thc_table_solve(&t);
    thc_table_space_evenly(&even);
    printf("\n {\"bits\": %u, \"one_in\": %u, \"workers\": %u, \"thc\": %.6g, \"uniform\": %.6g}", bits,
           one_in, n, thc_error(&t, v, n, kernels), thc_error(&even, v, n, kernels));
}

static void print_others(const struct vectors *v)
{
    float least[WORKERS_MOST], clipped[WORKERS_MOST], all[WORKERS_MOST];

    for (unsigned i = 0; i < v->given; i++) {
        least[i] = tenth(v->of[i]);
        clipped[i] = 2.5F * sigma_of(v->of[i]); /* as TernGrad's authors do */
        all[i] = INFINITY;
    }
    for (size_t w = 0; w < sizeof workers / sizeof *workers; w++) {
        const unsigned n = workers[w];

        printf("%s\n {\"workers\": %u, \"terngrad\": %.6g, \"terngrad_unclipped\": %.6g, \"topk\": %.6g}",
               w > 0 ? "," : "", n, terngrad_error(v, n, clipped), terngrad_error(v, n, all),
               topk_error(v, n, least));
    }
}

void print_errors(const char *prefix, const struct vectors *v, const struct agg_kernels *kernels)
{
    static const unsigned one_in[] = {16, 32, 128, 1024};
    const char *comma = "";

    printf("\"%serrors\": [", prefix);
    for (uint8_t bits = 2; bits <= 4; bits++)
        for (size_t p = 0; p < sizeof one_in / sizeof *one_in; p++)
            for (size_t w = 0; w < sizeof workers / sizeof *workers; w++, comma = ",") {
                printf("%s", comma);
                print_way(v, bits, one_in[p], workers[w], kernels);
            }
    printf("],\n\"%sothers\": [", prefix);
    print_others(v);
    printf("],\n");
}
