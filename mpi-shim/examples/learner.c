#include "learner.h"

#include <stdlib.h>
#include <string.h>

static void sort_out(struct learner *l)
{
    for (size_t i = 0; i < l->lessons->count; i++)
        if (l->lessons->is_test(i))
            l->tests[l->test_count++] = i;
        else
            l->training[l->samples++] = i;
}

int learner_init(struct learner *l, const struct lessons *lessons, const int hidden[2], size_t batch,
                 float rate)
{
    const int widths[LAYERS + 1] = {lessons->inputs, hidden[0], hidden[1], lessons->classes};

    *l = (struct learner){.lessons = lessons, .batch = batch, .rate = rate, .momentum = 0.9f, .random = 2};
    if (network_init(&l->network, widths, 1) < 0)
        return -1;
    l->velocity = calloc(l->network.parameters, sizeof *l->velocity);
    l->training = malloc(lessons->count * sizeof *l->training);
    l->tests = malloc(lessons->count * sizeof *l->tests);
    l->input = malloc((size_t)lessons->inputs * sizeof *l->input);
    if (!l->velocity || !l->training || !l->tests || !l->input) {
        learner_free(l);
        return -1;
    }
    sort_out(l);
    return 0;
}

void learner_free(struct learner *l)
{
    network_free(&l->network);
    free(l->velocity);
    free(l->training);
    free(l->tests);
    free(l->input);
}

void learner_shuffle(struct learner *l)
{
    for (size_t i = l->samples - 1; i > 0; i--) {
        size_t j = random_next(&l->random) % (i + 1), t = l->training[i];
        l->training[i] = l->training[j];
        l->training[j] = t;
    }
}

size_t learner_steps(const struct learner *l)
{
    return (l->samples + l->batch - 1) / l->batch;
}

/* One past the last sample of a step. */
static size_t end_of(const struct learner *l, size_t step)
{
    const size_t end = (step + 1) * l->batch;
    return end < l->samples ? end : l->samples;
}

size_t learner_samples(const struct learner *l, size_t step)
{
    return end_of(l, step) - step * l->batch;
}

double learner_gradient(struct learner *l, size_t step, int rank, int ranks)
{
    struct network *n = &l->network;
    double loss = 0;
    memset(n->gradient, 0, n->parameters * sizeof *n->gradient);
    for (size_t i = step * l->batch + (size_t)rank; i < end_of(l, step); i += (size_t)ranks) {
        int label = l->lessons->sample(l->lessons->data, l->training[i], l->input);
        loss += network_learn(n, l->input, label);
    }
    return loss;
}

void learner_descend(struct learner *l, size_t step)
{
    struct network *n = &l->network;
    const float samples = (float)learner_samples(l, step);
    for (size_t i = 0; i < n->parameters; i++) {
        l->velocity[i] = l->momentum * l->velocity[i] - l->rate * n->gradient[i] / samples;
        n->model[i] += l->velocity[i];
    }
}

int learner_test(struct learner *l, size_t first, size_t stride, int *of)
{
    int right = 0;
    *of = 0;
    for (size_t i = first; i < l->test_count; i += stride, ++*of) {
        int label = l->lessons->sample(l->lessons->data, l->tests[i], l->input);
        right += network_classify(&l->network, l->input) == label;
    }
    return right;
}
