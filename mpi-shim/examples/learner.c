#include "learner.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- the network --- */

/* splitmix64 */
static uint64_t random_next(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* Uniform in [-1, 1). */
static float random_float(uint64_t *state)
{
    return (float)(random_next(state) >> 40) / (float)(1 << 23) - 1.0f;
}

static size_t layer_size(const struct network *n, int layer)
{
    return ((size_t)n->width[layer] + 1) * (size_t)n->width[layer + 1];
}

static void network_free(struct network *n)
{
    free(n->model);
    free(n->gradient);
    for (int l = 0; l <= LAYERS; l++) {
        free(n->values[l]);
        free(n->errors[l]);
    }
}

/* The same seed gives the same model everywhere. Returns 0, or -1 when memory is out. */
static int network_init(struct network *n, const int width[LAYERS + 1], uint64_t seed)
{
    *n = (struct network){0};
    memcpy(n->width, width, sizeof n->width);
    for (int l = 0; l < LAYERS; l++)
        n->parameters += layer_size(n, l);
    n->model = calloc(n->parameters, sizeof *n->model);
    n->gradient = calloc(n->parameters, sizeof *n->gradient);
    int lacking = !n->model || !n->gradient;
    for (int l = 0; l <= LAYERS; l++) {
        n->values[l] = calloc((size_t)width[l], sizeof(float));
        n->errors[l] = calloc((size_t)width[l], sizeof(float));
        lacking |= !n->values[l] || !n->errors[l];
    }
    if (lacking) {
        network_free(n);
        return -1;
    }
    float *w = n->model;
    for (int l = 0; l < LAYERS; w += layer_size(n, l), l++) {
        float range = sqrtf(6.0f / (float)width[l]);
        for (int i = 0; i < width[l] * width[l + 1]; i++)
            w[i] = range * random_float(&seed);
    }
    return 0;
}

static void layer_forward(const float *w, int from, int to, const float *in, float *out)
{
    memcpy(out, w + (size_t)from * (size_t)to, (size_t)to * sizeof *out);
    for (int i = 0; i < from; i++)
        for (int j = 0; j < to && in[i] != 0; j++)
            out[j] += in[i] * w[i * to + j];
}

static void softmax(float *v, int width)
{
    float top = v[0], sum = 0;
    for (int i = 1; i < width; i++)
        top = v[i] > top ? v[i] : top;
    for (int i = 0; i < width; i++)
        sum += v[i] = expf(v[i] - top);
    for (int i = 0; i < width; i++)
        v[i] /= sum;
}

static void forward(struct network *n, const float *input)
{
    const float *w = n->model;
    memcpy(n->values[0], input, (size_t)n->width[0] * sizeof *input);
    for (int l = 0; l < LAYERS; w += layer_size(n, l), l++) {
        float *out = n->values[l + 1];
        layer_forward(w, n->width[l], n->width[l + 1], n->values[l], out);
        for (int j = 0; j < n->width[l + 1] && l + 1 < LAYERS; j++)
            out[j] = out[j] > 0 ? out[j] : 0;
    }
    softmax(n->values[LAYERS], n->width[LAYERS]);
}

/* The most likely class. */
static int network_classify(struct network *n, const float *input)
{
    const float *out = n->values[LAYERS];
    int best = 0;
    forward(n, input);
    for (int j = 1; j < n->width[LAYERS]; j++)
        best = out[j] > out[best] ? j : best;
    return best;
}

static void layer_backward(const float *w, float *gradient, int from, int to, const float *in,
                           const float *error_out, float *error_in)
{
    for (int i = 0; i < from; i++) {
        float e = 0;
        for (int j = 0; j < to && in[i] != 0; j++) {
            gradient[i * to + j] += in[i] * error_out[j];
            e += w[i * to + j] * error_out[j];
        }
        error_in[i] = in[i] > 0 ? e : 0; /* through the ReLU; of the input it is not used */
    }
    for (int j = 0; j < to; j++)
        gradient[from * to + j] += error_out[j];
}

/* Adds the gradient of one sample's loss to n->gradient; returns the loss. */
static double network_learn(struct network *n, const float *input, int label)
{
    forward(n, input);
    for (int j = 0; j < n->width[LAYERS]; j++)
        n->errors[LAYERS][j] = n->values[LAYERS][j] - (j == label ? 1.0f : 0.0f);
    size_t at = n->parameters;
    for (int l = LAYERS - 1; l >= 0; l--) {
        at -= layer_size(n, l);
        layer_backward(n->model + at, n->gradient + at, n->width[l], n->width[l + 1], n->values[l],
                       n->errors[l + 1], n->errors[l]);
    }
    return -log((double)n->values[LAYERS][label] + 1e-12);
}

/* --- learning --- */

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
