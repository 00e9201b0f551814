#include "workers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels_chosen.h"
#include "late.h"

static size_t parameters(const struct workers *w)
{
    return w->worker[0].learner.network.parameters;
}

static bool is_compressed(const struct workers *w)
{
    return w->cfg.options.compression != SWAGG_COMPRESSION_NONE;
}

static int open_worker(struct workers *w, unsigned rank, const struct client_compression *compression)
{
    struct worker *one = &w->worker[rank];
    const struct client_options options = {
        .rank = (uint16_t)rank,
        .size = (uint16_t)w->cfg.workers,
        .compression = *compression,
        .quorum = (uint16_t)(w->cfg.late > 0 ? w->cfg.workers - w->cfg.late : 0)};

    if (compression->on)
        compress_open(&one->compress, &options, kernels_or_exit());
    return learner_init(&one->learner, w->cfg.lessons, w->cfg.hidden, w->cfg.batch, w->cfg.rate);
}

static int open_all(struct workers *w)
{
    struct swagg_options wish = w->cfg.options;
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
    *w = (struct workers){.cfg = *cfg, .random = 3, .lateness = LATE_SEED};
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
        if (!w->is_late[i])
            add(w->total, w->worker[i].learner.network.gradient, n);
    for (size_t i = 0; i < n; i++)
        w->total[i] *= (float)w->cfg.workers / (float)(w->cfg.workers - w->cfg.late);
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

void workers_sum(struct workers *w)
{
    late_choose(&w->lateness, w->cfg.workers, w->cfg.late, w->is_late);
    if (is_compressed(w))
        workers_sum_compressed(w);
    else
        sum_floats(w);
}

double workers_nmse(const struct workers *w)
{
    const double sum2 = w->worker[0].compress.sum2;
    double error2 = 0;

    for (unsigned i = 0; i < w->cfg.workers; i++)
        error2 += w->worker[i].compress.error2;
    return sum2 > 0 ? error2 / sum2 : 0;
}
