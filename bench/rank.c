#include "rank.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "late.h"
#include "timing.h"
#include "wire/switchml.h"

struct rank {
    const struct rank_config *cfg;
    struct learner learner;
    struct swagg_job *job;
    float *before; /* the model, in case that the others' cannot be had */
    uint64_t lateness;
    bool is_late[AGG_MAX_RANKS]; /* in this step */
    double began;
    uint64_t left_out,
        missed; /* of the gradients: floats without this rank's, and those that it did not get */
};

static int fail(const struct rank *r, const char *what)
{
    fprintf(stderr, "bench-train: rank %d: %s: %s\n", r->cfg->options.rank, what, swagg_last_error());
    return -1;
}

static void come_late(struct rank *r)
{
    const struct timespec t = {r->cfg->late_ms / 1000, r->cfg->late_ms % 1000 * 1000000L};

    late_choose(&r->lateness, (unsigned)r->cfg->options.size, r->cfg->late, r->is_late);
    if (r->is_late[r->cfg->options.rank])
        nanosleep(&t, NULL);
}

/* In place. Compressed, what is not in a sum comes with the next one; else those that are there count for
 * all.
 */
static int sum_gradients(struct rank *r)
{
    const struct swagg_options *o = &r->cfg->options;
    const struct network *n = &r->learner.network;
    const bool compressed = o->compression != SWAGG_COMPRESSION_NONE;
    struct swagg_turnout t = SWAGG_TURNOUT_INIT;

    if (swagg_allreduce(r->job, n->gradient, n->gradient, n->parameters, SWAGG_F32,
                        compressed ? SWAGG_SUM : SWAGG_AVG) < 0)
        return fail(r, "a sum of gradients");
    for (size_t i = 0; i < n->parameters && !compressed; i++)
        n->gradient[i] *= (float)o->size;
    swagg_get_turnout(r->job, &t);
    r->left_out += t.left_out;
    r->missed += t.missed;
    return 0;
}

/* Who comes so late that the models' mean is gone keeps his own until the next time. */
static int synchronize(struct rank *r)
{
    const struct network *n = &r->learner.network;
    struct swagg_turnout t = SWAGG_TURNOUT_INIT;

    memcpy(r->before, n->model, n->parameters * sizeof *n->model);
    if (swagg_synchronize(r->job, n->model, n->parameters) < 0)
        return fail(r, "the models' mean");
    swagg_get_turnout(r->job, &t);
    if (t.missed > 0)
        memcpy(n->model, r->before, n->parameters * sizeof *n->model);
    return 0;
}

/* Each rank tests a share. */
static int report(struct rank *r, int epoch)
{
    const struct swagg_options *o = &r->cfg->options;
    int32_t mine[2], all[2];
    struct swagg_turnout t = SWAGG_TURNOUT_INIT;

    mine[0] = learner_test(&r->learner, (size_t)o->rank * r->cfg->stride, (size_t)o->size * r->cfg->stride,
                           &mine[1]);
    if (swagg_allreduce(r->job, mine, all, 2, SWAGG_I32, SWAGG_SUM) < 0)
        return fail(r, "a sum of results");
    swagg_get_turnout(r->job, &t);
    if (t.missed > 0)
        memcpy(all, mine, sizeof all);
    if (o->rank == 0)
        printf("%s\n {\"epoch\": %d, \"accuracy\": %.6f, \"ms\": %.1f}", epoch > 1 ? "," : "", epoch,
               (double)all[0] / all[1], (now_ns() - r->began) / 1e6);
    r->began = now_ns();
    return 0;
}

static int train_epoch(struct rank *r, int epoch)
{
    const struct swagg_options *o = &r->cfg->options;

    learner_shuffle(&r->learner);
    for (size_t step = 0; step < r->cfg->steps; step++) {
        learner_gradient(&r->learner, step, o->rank, o->size);
        come_late(r);
        if (sum_gradients(r) < 0)
            return -1;
        learner_descend(&r->learner, step);
    }
    return synchronize(r) < 0 ? -1 : report(r, epoch);
}

static int train(struct rank *r)
{
    const bool tells = r->cfg->options.rank == 0;
    int rc = 0;

    r->began = now_ns();
    if (tells)
        printf("{\"epochs\": [");
    for (int epoch = 1; epoch <= r->cfg->epochs && rc == 0; epoch++)
        rc = train_epoch(r, epoch);
    if (tells)
        printf("],\n \"steps\": %zu, \"left_out\": %llu, \"missed\": %llu}\n", r->cfg->steps,
               (unsigned long long)r->left_out, (unsigned long long)r->missed);
    return rc;
}

static int join_and_train(struct rank *r)
{
    if (r->cfg->steps > learner_steps(&r->learner)) {
        fprintf(stderr, "bench-train: --steps is more than the text has\n");
        return -1;
    }
    r->before = malloc(r->learner.network.parameters * sizeof *r->before);
    if (r->before == NULL) {
        fprintf(stderr, "bench-train: no memory for the model\n");
        return -1;
    }
    if (swagg_open(&r->job, &r->cfg->options) < 0)
        return fail(r, "it cannot join");
    const int rc = train(r);
    swagg_close(r->job);
    return rc;
}

int rank_train(const struct rank_config *cfg)
{
    struct rank r = {.cfg = cfg, .lateness = LATE_SEED};

    if (learner_init(&r.learner, cfg->lessons, cfg->hidden, cfg->batch, cfg->rate) < 0) {
        fprintf(stderr, "bench-train: no memory for the model\n");
        return -1;
    }
    const int rc = join_and_train(&r);
    free(r.before);
    learner_free(&r.learner);
    return rc;
}
