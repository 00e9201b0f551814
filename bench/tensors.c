/* The 161 gradient tensors of ResNet-50, summed as single blocking calls, as one vector call, and as one call
 * of the same bytes. One process a rank:
 *
 *     bench-tensors SWITCH_IP JOB RANK SIZE ROUNDS
 *
 * In each round the three take turns. Rank 0 prints, as JSON, the rounds' seconds and two ratios of goodput,
 * of the medians: many_tensors_share (single calls by one call) and many_tensors_share_vector. */
#include <stdio.h>
#include <stdlib.h>

#include "swagg.h"
#include "timing.h"

enum { TENSORS = 161, STAGES = 4, ROUNDS_MAX = 99, WARM_UP = 1 << 20, EXPANSION = 4, CLASSES = 1000 };

enum way { ONE, SINGLE, VECTOR, WAYS };
static const char *const ways[WAYS] = {"one", "single", "vector"};

struct gradients {
    struct swagg_segment tensor[TENSORS];
    unsigned n;
    size_t elements;
};

static void add(struct gradients *g, size_t count)
{
    g->tensor[g->n++].count = count;
    g->elements += count;
}

/* A convolution's weights, and scale and shift of the batch normalisation behind it. */
static void add_convolution(struct gradients *g, size_t in, size_t out, size_t kernel)
{
    add(g, in * out * kernel * kernel);
    add(g, out);
    add(g, out);
}

/* "Deep Residual Learning for Image Recognition" (He et al.), table 1, 50 layers. */
static void add_resnet50(struct gradients *g)
{
    static const unsigned blocks[STAGES] = {3, 4, 6, 3};
    size_t in = 64;

    add_convolution(g, 3, in, 7);
    for (unsigned stage = 0; stage < STAGES; stage++)
        for (unsigned block = 0; block < blocks[stage]; block++) {
            size_t planes = (size_t)64 << stage, out = planes * EXPANSION;
            add_convolution(g, in, planes, 1);
            add_convolution(g, planes, planes, 3);
            add_convolution(g, planes, out, 1);
            if (block == 0)
                add_convolution(g, in, out, 1);
            in = out;
        }
    add(g, in * CLASSES);
    add(g, CLASSES);
}

static void place(struct gradients *g)
{
    float *memory = malloc(g->elements * sizeof *memory), *at = memory;

    if (memory == NULL || g->n != TENSORS)
        abort();
    for (size_t i = 0; i < g->elements; i++) /* touches every page before the clock runs */
        memory[i] = 0;
    for (unsigned i = 0; i < g->n; at += g->tensor[i++].count)
        g->tensor[i].send = g->tensor[i].recv = at;
}

static int sum(struct swagg_job *job, struct gradients *g, enum way way)
{
    int rc = 0;

    if (way == ONE)
        return swagg_allreduce(job, g->tensor[0].send, g->tensor[0].recv, g->elements, SWAGG_F32, SWAGG_SUM);
    if (way == VECTOR)
        return swagg_allreducev(job, g->tensor, g->n, SWAGG_F32, SWAGG_SUM);
    for (unsigned i = 0; rc == 0 && i < g->n; i++)
        rc = swagg_allreduce(job, g->tensor[i].send, g->tensor[i].recv, g->tensor[i].count, SWAGG_F32,
                             SWAGG_SUM);
    return rc;
}

static void print(double times[WAYS][ROUNDS_MAX], unsigned rounds)
{
    printf("{");
    for (enum way way = ONE; way < WAYS; way++) {
        printf("\"%s_s\": [", ways[way]);
        for (unsigned i = 0; i < rounds; i++)
            printf("%s%.6f", i > 0 ? ", " : "", times[way][i]);
        printf("], ");
    }
    const double one = median(times[ONE], rounds);

    printf("\"many_tensors_share\": %.4f, \"many_tensors_share_vector\": %.4f}\n",
           one / median(times[SINGLE], rounds), one / median(times[VECTOR], rounds));
}

int main(int argc, char *argv[])
{
    static struct gradients g;
    static double times[WAYS][ROUNDS_MAX];
    struct swagg_options o = SWAGG_OPTIONS_DEFAULT;
    struct swagg_job *job;
    int rounds = argc == 6 ? atoi(argv[5]) : 0;

    if (rounds < 1 || rounds > ROUNDS_MAX) {
        fprintf(stderr, "usage: bench-tensors SWITCH_IP JOB RANK SIZE ROUNDS   (1 to %d rounds)\n",
                ROUNDS_MAX);
        return 2;
    }
    o.switch_ip = argv[1];
    o.job = argv[2];
    o.rank = atoi(argv[3]);
    o.size = atoi(argv[4]);
    add_resnet50(&g);
    place(&g);
    int rc = swagg_open(&job, &o);
    if (rc == 0) /* so that the first that is timed finds the window as long as the others do */
        rc = swagg_allreduce(job, g.tensor[0].send, g.tensor[0].recv, WARM_UP, SWAGG_F32, SWAGG_SUM);
    for (int i = 0; rc == 0 && i < rounds; i++)
        for (enum way way = ONE; rc == 0 && way < WAYS; way++) {
            double begin = now_ns();
            rc = sum(job, &g, way);
            times[way][i] = (now_ns() - begin) / 1e9;
        }
    if (rc < 0)
        fprintf(stderr, "bench-tensors: %s: %s\n", swagg_strerror(rc), swagg_last_error());
    else if (o.rank == 0)
        print(times, (unsigned)rounds);
    swagg_close(job);
    return rc < 0;
}
