/* Data-parallel training of a network, without any communication: what a rank does between two sums of
 * gradients. Whoever trains adds up the gradients of all ranks (learner.network.gradient) between
 * learner_gradient and learner_descend. Everything follows from the seeds: with the same sums, all ranks have
 * the same model, bit for bit. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* A small multi-layer perceptron: fully connected, ReLU between the layers, softmax and cross-entropy at the
 * end. All parameters of the model are in one flat array, and so are their gradients, which data-parallel
 * training reduces. */
enum { LAYERS = 3 };

struct network {
    int width[LAYERS + 1]; /* of the input, of each layer */
    size_t parameters;
    float *model;    /* layer by layer: weights [from][to], then biases [to] */
    float *gradient; /* the same shape */
    float *values[LAYERS + 1], *errors[LAYERS + 1];
};

/* A data set; the functions of its kind fill it in. */
struct lessons {
    size_t count; /* of samples */
    int inputs, classes;
    const void *data;
    /* Writes a sample's `inputs` numbers, and returns its class. */
    int (*sample)(const void *data, size_t i, float input[]);
    /* Whether it is for testing, not for learning. */
    int (*is_test)(size_t i);
};

struct learner {
    const struct lessons *lessons;
    struct network network;
    size_t batch; /* samples that all ranks together learn from in a step */
    float rate, momentum;
    float *velocity;
    size_t *training; /* which samples to learn from, shuffled anew for every epoch */
    size_t samples;   /* of them */
    size_t *tests, test_count;
    float *input;    /* of one sample */
    uint64_t random; /* for shuffles: the same on all ranks */
};

/* hidden: the widths of the two layers between input and output. Returns 0, or -1 when memory is out. */
int learner_init(struct learner *l, const struct lessons *lessons, const int hidden[2], size_t batch,
                 float rate);
void learner_free(struct learner *l);

void learner_shuffle(struct learner *l);

/* Steps in an epoch. */
size_t learner_steps(const struct learner *l);

/* Samples of a step, of all ranks. */
size_t learner_samples(const struct learner *l, size_t step);

/* Sets network.gradient to this rank's share of a step's. Returns its part of the loss, summed over its
 * samples. */
double learner_gradient(struct learner *l, size_t step, int rank, int ranks);

/* Moves the model by the sum of all ranks' gradients, which is in network.gradient now. */
void learner_descend(struct learner *l, size_t step);

/* Of the test samples first, first + stride, ...: how many are recognized. *of: how many there are. */
int learner_test(struct learner *l, size_t first, size_t stride, int *of);
