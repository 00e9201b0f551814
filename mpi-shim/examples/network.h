/* A small multi-layer perceptron: fully connected, ReLU between the layers, softmax and cross-entropy at the
 * end. All parameters of the model are in one flat array, and so are their gradients, which data-parallel
 * training reduces. */
#ifndef NETWORK_H
#define NETWORK_H

#include <stddef.h>
#include <stdint.h>

enum { LAYERS = 3 };

struct network {
    int width[LAYERS + 1]; /* of the input, of each layer */
    size_t parameters;
    float *model;    /* layer by layer: weights [from][to], then biases [to] */
    float *gradient; /* the same shape */
    float *values[LAYERS + 1], *errors[LAYERS + 1];
};

/* The same seed gives the same model everywhere. Returns 0, or -1 when memory is out. */
int network_init(struct network *n, const int width[LAYERS + 1], uint64_t seed);
void network_free(struct network *n);

/* The most likely class. */
int network_classify(struct network *n, const float *input);

/* Adds the gradient of one sample's loss to n->gradient; returns the loss. */
double network_learn(struct network *n, const float *input, int label);

/* Random numbers; any state is valid. For shuffles that are the same on all ranks. */
uint64_t random_next(uint64_t *state);

#endif
