/* bench-thc: what THC's compression costs in exactness and time, without a network; one JSON object to
 * stdout.
 *
 * Error: n workers have the same vector of normal numbers, and the error of the mean that comes out of the
 * switch's sums is taken by the square of that vector (NMSE), beside uniform quantisation to as many bits
 * (algorithm 1 of the paper), TernGrad with a scale that all workers share, and the largest tenth of the
 * numbers (TopK). The larger granularities take sums of 16 bits.
 *
 * Time: each step, over floats that stay in the L2 cache, beside memcpy of the same floats. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "random/splitmix.h"
#include "thc/codec.h"
#include "timing.h"

enum { BLOCK = 4096, FLOATS = 1 << 17, WORKERS_MOST = 64, TIMED = 1 << 15, ROUNDS = 4 };

static float vector[FLOATS], mean[FLOATS], block[BLOCK];
static uint16_t sums[BLOCK];
static uint8_t packed[BLOCK / 2];

/* --- error --- */

static double uniform_01(uint64_t *state)
{
    return ((double)(splitmix_next(state) >> 11) + 0.5) * 0x1p-53;
}

static void fill(uint64_t seed)
{
    for (size_t i = 0; i < FLOATS; i += 2) { /* Box and Muller */
        const double radius = sqrt(-2 * log(uniform_01(&seed))), angle = 2 * acos(-1) * uniform_01(&seed);

        vector[i] = (float)(radius * cos(angle));
        vector[i + 1] = (float)(radius * sin(angle));
    }
}

static double error_of_mean(void)
{
    double error = 0, whole = 0;

    for (size_t i = 0; i < FLOATS; i++) {
        const double x = (double)vector[i], off = (double)mean[i] - x;

        error += off * off;
        whole += x * x;
    }
    return error / whole;
}

/* What comes of n workers' block: encoded by each, added, decoded. */
static void send_block(const struct thc_codec *c, const float *from, float *to, unsigned n, uint64_t round)
{
    float norm;

    memcpy(block, from, sizeof block);
    norm = thc_transform(c, block, round);
    memset(sums, 0, sizeof sums);
    for (unsigned worker = 0; worker < n; worker++) {
        thc_encode(c, packed, block, norm, (uint32_t)splitmix_hash(round * WORKERS_MOST + worker));
        thc_add16(c, sums, packed);
    }
    thc_decode16(c, to, sums, n, norm);
    thc_transform_back(c, to, round);
}

static double thc_error(const struct thc_table *table, unsigned n, const struct agg_kernels *kernels)
{
    struct thc_codec c;

    thc_codec_init(&c, table, BLOCK, kernels);
    for (size_t at = 0; at < FLOATS; at += BLOCK)
        send_block(&c, vector + at, mean + at, n, at + n);
    return error_of_mean();
}

/* Each number is the largest of all, with its sign, at random, or 0; right in the mean. */
static double terngrad_error(unsigned n)
{
    uint64_t state = n;
    float scale = 0;

    for (size_t i = 0; i < FLOATS; i++)
        scale = fmaxf(scale, fabsf(vector[i]));
    for (size_t i = 0; i < FLOATS; i++) {
        unsigned sent = 0;

        for (unsigned worker = 0; worker < n; worker++)
            sent += uniform_01(&state) < (double)(fabsf(vector[i]) / scale);
        mean[i] = copysignf(scale * (float)sent / (float)n, vector[i]);
    }
    return error_of_mean();
}

static int by_size(const void *a, const void *b)
{
    const float x = fabsf(*(const float *)a), y = fabsf(*(const float *)b);

    return (x < y) - (x > y);
}

/* All workers send the same tenth, so their number makes no difference. */
static double topk_error(void)
{
    memcpy(mean, vector, sizeof mean);
    qsort(mean, FLOATS, sizeof *mean, by_size);
    const float least = fabsf(mean[FLOATS / 10]);
    for (size_t i = 0; i < FLOATS; i++)
        mean[i] = fabsf(vector[i]) > least ? vector[i] : 0;
    return error_of_mean();
}

static void print_errors(const struct agg_kernels *kernels)
{
    static const unsigned one_in[] = {16, 32, 128, 1024}, workers[] = {1, 2, 4, 8, 16, 32, 64};
    const char *comma = "";

    printf("\"errors\": [");
    for (uint8_t bits = 2; bits <= 4; bits++)
        for (size_t p = 0; p < sizeof one_in / sizeof *one_in; p++)
            for (size_t w = 0; w < sizeof workers / sizeof *workers; w++) {
                struct thc_table t = {.bits = bits, .granularity = 30, .fraction = 1.0 / one_in[p]}, even = t;

                even.granularity = (uint8_t)((1u << bits) - 1);
                thc_table_solve(&t);
                thc_table_space_evenly(&even);
                printf(
                    "%s\n {\"bits\": %u, \"one_in\": %u, \"workers\": %u, \"thc\": %.6g, \"uniform\": %.6g}",
                    comma, bits, one_in[p], workers[w], thc_error(&t, workers[w], kernels),
                    thc_error(&even, workers[w], kernels));
                comma = ",";
            }
    printf("],\n\"others\": [");
    comma = "";
    for (size_t w = 0; w < sizeof workers / sizeof *workers; w++, comma = ",")
        printf("%s\n {\"workers\": %u, \"terngrad\": %.6g, \"topk\": %.6g}", comma, workers[w],
               terngrad_error(workers[w]), topk_error());
    printf("],\n");
}

/* --- time --- */

/* What the steps work on: TIMED floats, block by block. */
struct work {
    struct thc_codec codec;
    float *x, *other;
    uint8_t *packed, *sums8;
    uint16_t *sums16;
};

typedef void step_fn(struct work *w, size_t at);

static void copy(struct work *w, size_t at)
{
    memcpy(w->other + at, w->x + at, BLOCK * sizeof(float));
}
static void transform(struct work *w, size_t at)
{
    thc_transform(&w->codec, w->x + at, at);
}
static void encode(struct work *w, size_t at)
{
    thc_encode(&w->codec, w->packed + at / 2, w->x + at, 32, (uint32_t)at);
}
static void subtract(struct work *w, size_t at)
{
    thc_subtract(&w->codec, w->x + at, w->packed + at / 2, 32);
}
static void transform_back(struct work *w, size_t at)
{
    thc_transform_back(&w->codec, w->x + at, at);
}
static void add8(struct work *w, size_t at)
{
    thc_add8(&w->codec, w->sums8 + at, w->packed + at / 2);
}
static void add16(struct work *w, size_t at)
{
    thc_add16(&w->codec, w->sums16 + at, w->packed + at / 2);
}
static void decode8(struct work *w, size_t at)
{
    thc_decode8(&w->codec, w->other + at, w->sums8 + at, 4, 32);
}
static void decode16(struct work *w, size_t at)
{
    thc_decode16(&w->codec, w->other + at, w->sums16 + at, 4, 32);
}

static const struct {
    const char *name;
    step_fn *step;
} steps[] = {{"memcpy", copy},
             {"transform", transform},
             {"quantise_and_pack", encode},
             {"subtract", subtract},
             {"transform_back", transform_back},
             {"look_up_and_add_8", add8},
             {"look_up_and_add_16", add16},
             {"decode_8", decode8},
             {"decode_16", decode16}};

/* ns an element, the median. */
static double time_step(struct work *w, step_fn *step)
{
    double values[REPEATS];

    for (unsigned r = 0; r < REPEATS; r++) {
        const double start = now_ns();

        for (unsigned round = 0; round < ROUNDS; round++)
            for (size_t at = 0; at < TIMED; at += BLOCK) {
                step(w, at);
                touch(w->x);
            }
        values[r] = (now_ns() - start) / ROUNDS / TIMED;
        memcpy(w->x, vector, TIMED * sizeof(float)); /* steps in place would let them grow */
    }
    return median(values);
}

static void *room(size_t bytes)
{
    void *p = aligned_alloc(64, bytes);

    if (p == NULL)
        exit(EXIT_FAILURE);
    return memset(p, 0, bytes);
}

static void print_times(const struct agg_kernels *kernels)
{
    struct work w = {.x = room(TIMED * sizeof(float)),
                     .other = room(TIMED * sizeof(float)),
                     .packed = room(TIMED / 2),
                     .sums8 = room(TIMED),
                     .sums16 = room(TIMED * sizeof(uint16_t))};
    struct thc_table t = {.bits = 4, .granularity = 30, .fraction = 1.0 / 32};

    thc_table_solve(&t);
    thc_codec_init(&w.codec, &t, BLOCK, kernels);
    memcpy(w.x, vector, TIMED * sizeof(float));
    printf("\"kernels\": \"%s\", \"ns\": {", kernels->name);
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        printf("%s\"%s\": %.4f", i == 0 ? "" : ", ", steps[i].name, time_step(&w, steps[i].step));
    printf("}");
    free(w.x);
    free(w.other);
    free(w.packed);
    free(w.sums8);
    free(w.sums16);
}

int main(void)
{
    const struct agg_kernels *kernels = agg_kernels_best();

    fill(1);
    printf("{");
    print_errors(kernels);
    print_times(kernels);
    printf("}\n");
    return EXIT_SUCCESS;
}
