/* bench-thc [GRADIENTS]: what THC's compression costs in exactness and time, without a network; one JSON
 * object to stdout.
 *
 * Error (thc_errors.h): of a vector of normal numbers, the same on all workers, and of the gradients in the
 * file, which bench-train has written: a vector for each worker.
 *
 * Time: each step, over floats that stay in the L2 cache, beside memcpy of the same floats. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels_chosen.h"
#include "thc/codec.h"
#include "thc_errors.h"
#include "timing.h"

enum { BLOCK = 4096, TIMED = 1 << 15, ROUNDS = 4 };

static vector normal;

/* --- error --- */

static void fill(float *x, uint64_t seed)
{
    for (size_t i = 0; i < VECTOR_FLOATS; i += 2) { /* Box and Muller */
        const double radius = sqrt(-2 * log(uniform_01(&seed))), angle = 2 * acos(-1) * uniform_01(&seed);

        x[i] = (float)(radius * cos(angle));
        x[i + 1] = (float)(radius * sin(angle));
    }
}

/* Those of bench-train --gradients. */
static void read_gradients(vector to[WORKERS_MOST], const char *path)
{
    FILE *f = fopen(path, "rb");

    if (f == NULL || fread(to, sizeof *to, WORKERS_MOST, f) != WORKERS_MOST) {
        fprintf(stderr, "bench-thc: cannot read %d gradients of %d floats from %s\n", WORKERS_MOST,
                VECTOR_FLOATS, path);
        exit(EXIT_FAILURE);
    }
    fclose(f);
}

static void print_gradient_errors(const char *path, const struct agg_kernels *kernels)
{
    vector *gradients = malloc(WORKERS_MOST * sizeof *gradients);

    if (gradients == NULL)
        exit(EXIT_FAILURE);
    read_gradients(gradients, path);
    print_errors("gradient_", &(struct vectors){.given = WORKERS_MOST, .of = gradients}, kernels);
    free(gradients);
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
        memcpy(w->x, normal, TIMED * sizeof(float)); /* steps in place would let them grow */
    }
    return median(values, REPEATS);
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
    memcpy(w.x, normal, TIMED * sizeof(float));
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

int main(int argc, char **argv)
{
    const struct agg_kernels *kernels = kernels_or_exit();

    fill(normal, 1);
    printf("{");
    print_errors("", &(struct vectors){.given = 1, .of = (const vector *)&normal}, kernels);
    if (argc > 1)
        print_gradient_errors(argv[1], kernels);
    print_times(kernels);
    printf("}\n");
    return EXIT_SUCCESS;
}
