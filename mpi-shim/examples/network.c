#include "network.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* splitmix64 */
uint64_t random_next(uint64_t *state)
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

int network_init(struct network *n, const int width[LAYERS + 1], uint64_t seed)
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

void network_free(struct network *n)
{
    free(n->model);
    free(n->gradient);
    for (int l = 0; l <= LAYERS; l++) {
        free(n->values[l]);
        free(n->errors[l]);
    }
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

int network_classify(struct network *n, const float *input)
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

double network_learn(struct network *n, const float *input, int label)
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
