#include "workers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "random/splitmix.h"

enum { MTU = 1500 };

static size_t parameters(const struct workers *w)
{
    return w->worker[0].learner.network.parameters;
}

static bool is_compressed(const struct workers *w)
{
    return w->cfg.compression.compression != SWAGG_COMPRESSION_NONE;
}

static int open_worker(struct workers *w, unsigned rank, const struct client_compression *compression)
{
    struct worker *one = &w->worker[rank];
    const struct client_options options = {
        .rank = (uint16_t)rank, .size = (uint16_t)w->cfg.workers, .compression = *compression};

    if (compression->on)
        compress_open(&one->compress, &options, agg_kernels_best());
    return learner_init(&one->learner, w->cfg.lessons, w->cfg.hidden, w->cfg.batch, w->cfg.rate);
}

static int open_all(struct workers *w)
{
    struct swagg_options wish = w->cfg.compression;
    struct client_compression compression;
    int rc = 0;

    wish.size = (int)w->cfg.workers;
    if (client_compression_resolve(&compression, &wish) < 0) {
        fprintf(stderr, "%s\n", swagg_last_error());
        return -1;
    }
    w->worker = calloc(w->cfg.workers, sizeof *w->worker);
    w->gradient = calloc(w->cfg.workers, sizeof *w->gradient);
    for (unsigned i = 0; w->worker && i < w->cfg.workers && rc == 0; i++)
        rc = open_worker(w, i, &compression);
    if (w->worker && rc == 0) {
        const size_t floats = thc_filled(parameters(w));

        w->total = malloc(floats * sizeof(float));
        w->sums = malloc(floats * sizeof(uint16_t));
        w->lost = malloc(floats / SML_GROUP);
        if (w->gradient && w->total && w->sums && w->lost)
            return 0;
    }
    fprintf(stderr, "no memory for %u workers\n", w->cfg.workers);
    return -1;
}

int workers_open(struct workers *w, const struct workers_config *cfg)
{
    *w = (struct workers){.cfg = *cfg, .random = 3};
    if (open_all(w) == 0)
        return 0;
    workers_close(w);
    return -1;
}

void workers_close(struct workers *w)
{
    for (unsigned i = 0; w->worker && i < w->cfg.workers; i++) {
        compress_close(&w->worker[i].compress);
        learner_free(&w->worker[i].learner);
    }
    free(w->worker);
    free(w->gradient);
    free(w->total);
    free(w->sums);
    free(w->lost);
}

void workers_shuffle(struct workers *w)
{
    for (unsigned i = 0; i < w->cfg.workers; i++)
        learner_shuffle(&w->worker[i].learner);
}

double workers_gradients(struct workers *w, size_t step)
{
    double loss = 0;

    for (unsigned i = 0; i < w->cfg.workers; i++)
        loss += learner_gradient(&w->worker[i].learner, step, (int)i, (int)w->cfg.workers);
    return loss / (double)learner_samples(&w->worker[0].learner, step);
}

void workers_descend(struct workers *w, size_t step)
{
    for (unsigned i = 0; i < w->cfg.workers; i++)
        learner_descend(&w->worker[i].learner, step);
}

/* --- sums of floats --- */

static void add(float *sum, const float *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        sum[i] += x[i];
}

static void sum_floats(struct workers *w)
{
    const size_t n = parameters(w);

    memset(w->total, 0, n * sizeof(float));
    for (unsigned i = 0; i < w->cfg.workers; i++)
        add(w->total, w->worker[i].learner.network.gradient, n);
    for (unsigned i = 0; i < w->cfg.workers; i++)
        memcpy(w->worker[i].learner.network.gradient, w->total, n * sizeof(float));
}

void workers_synchronize(struct workers *w)
{
    const size_t n = parameters(w);

    memset(w->total, 0, n * sizeof(float));
    for (unsigned i = 0; i < w->cfg.workers; i++)
        add(w->total, w->worker[i].learner.network.model, n);
    for (size_t i = 0; i < n; i++)
        w->total[i] /= (float)w->cfg.workers;
    for (unsigned i = 0; i < w->cfg.workers; i++)
        memcpy(w->worker[i].learner.network.model, w->total, n * sizeof(float));
}

bool workers_agree(const struct workers *w)
{
    bool agree = true;

    for (unsigned i = 1; i < w->cfg.workers; i++)
        agree &= memcmp(w->worker[0].learner.network.model, w->worker[i].learner.network.model,
                        parameters(w) * sizeof(float)) == 0;
    return agree;
}

/* --- compressed sums --- */

static struct compress *first(const struct workers *w)
{
    return &w->worker[0].compress;
}

static void agree_on_norms(struct workers *w)
{
    float *largest = first(w)->norms;

    for (unsigned i = 1; i < w->cfg.workers; i++)
        for (uint64_t k = 0; k < first(w)->parts; k++)
            if (w->worker[i].compress.norms[k] > largest[k])
                largest[k] = w->worker[i].compress.norms[k];
    for (unsigned i = 1; i < w->cfg.workers; i++)
        memcpy(w->worker[i].compress.norms, largest, first(w)->parts * sizeof *largest);
}

/* What the switch does with a worker's indices. */
static void look_up(struct workers *w, struct compress *c)
{
    const struct sml_element e =
        sml_element_of(compress_call_indices(c).op << 4 | compress_call_indices(c).type);

    for (struct thc_part p = {0}; p.at < thc_filled(c->floats); p.at += p.block) {
        p = thc_part_at(c->floats, c->options.block, p.at);
        const uint8_t *packed = c->packed + p.at / SML_GROUP * e.in;
        uint8_t *sums = w->sums + p.at / SML_GROUP * e.out;

        thc_codec_resize(&c->codec, p.block);
        if (c->options.sum_bits == 8)
            thc_add8(&c->codec, sums, packed);
        else
            thc_add16(&c->codec, (uint16_t *)sums, packed);
    }
}

static bool is_lost(struct workers *w)
{
    return (double)(splitmix_next(&w->random) >> 11) * 0x1p-53 < w->cfg.loss;
}

/* Elements in a packet. */
static uint64_t in_packet(const struct workers *w)
{
    return client_chunk_bytes(MTU, SML_CHECKSUM_NONE) / (SML_GROUP * first(w)->options.sum_bits / 8u);
}

/* On the way to the switch: a sum for which it waits too long comes to nobody. */
static void lose_contributions(struct workers *w, uint64_t elements)
{
    memset(w->lost, 0, elements);
    for (uint64_t at = 0; at < elements && w->cfg.loss > 0; at += in_packet(w))
        for (unsigned i = 0; i < w->cfg.workers; i++)
            if (is_lost(w))
                memset(w->lost + at, 1, elements - at < in_packet(w) ? elements - at : in_packet(w));
}

/* Packets with sums come to a worker, or do not. */
static void deliver(struct workers *w, struct compress *c, uint64_t elements)
{
    const size_t out = SML_GROUP * c->options.sum_bits / 8u;

    memcpy(c->sums, w->sums, elements * out);
    for (uint64_t at = 0; at < elements && w->cfg.loss > 0; at += in_packet(w)) {
        const uint64_t n = elements - at < in_packet(w) ? elements - at : in_packet(w);

        if (!is_lost(w) && w->lost[at] == 0)
            continue;
        compress_miss(c, at, n);
        w->missed += n * SML_GROUP;
    }
}

static void begin(struct compress *c, struct sml_segment *gradient, const struct network *n)
{
    *gradient = (struct sml_segment){.in = n->gradient, .out = n->gradient, .count = n->parameters};
    if (!compress_begin(c, gradient, 1, false, 0))
        abort(); /* no memory */
}

static void sum_compressed(struct workers *w)
{
    for (unsigned i = 0; i < w->cfg.workers; i++)
        begin(&w->worker[i].compress, &w->gradient[i], &w->worker[i].learner.network);
    agree_on_norms(w);
    const uint64_t elements = compress_call_indices(first(w)).count;
    memset(w->sums, 0, elements * SML_GROUP * first(w)->options.sum_bits / 8u);
    for (unsigned i = 0; i < w->cfg.workers; i++) {
        compress_encode(&w->worker[i].compress);
        look_up(w, &w->worker[i].compress);
    }
    lose_contributions(w, elements);
    for (unsigned i = 0; i < w->cfg.workers; i++) {
        deliver(w, &w->worker[i].compress, elements);
        compress_decode(&w->worker[i].compress, NULL);
    }
}

void workers_sum(struct workers *w)
{
    if (is_compressed(w))
        sum_compressed(w);
    else
        sum_floats(w);
}

double workers_nmse(const struct workers *w)
{
    double error2 = 0;

    for (unsigned i = 0; i < w->cfg.workers; i++)
        error2 += w->worker[i].compress.error2;
    return first(w)->sum2 > 0 ? error2 / first(w)->sum2 : 0;
}
