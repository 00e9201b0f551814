/* A model's profile: its layers, with the bytes of their gradients and the time that each computes. A text
 * file, a word and its values a line, "#" and what follows it left out:
 *
 *     model VGG19
 *     bucket 25M
 *     layer NAME BYTES FORWARD_MS BACKWARD_MS
 *
 * Layers are in the order of the forward pass; the backward pass has them the other way round. bucket, which
 * may be missing, says how many bytes of gradients the model's framework sums together. docs/replay.md. */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { PROFILE_NAME = 64, PROFILE_LAYERS_MAX = 100000, PROFILE_WHY = 320 };

struct profile_layer {
    char name[PROFILE_NAME];
    uint64_t bytes; /* of its gradients; may be 0 */
    double forward_ms, backward_ms;
};

struct profile {
    char model[PROFILE_NAME];
    uint64_t bucket_bytes;
    unsigned layers;
    struct profile_layer *layer; /* [layers] */
};

/* What the file says. 0: it is the caller's, to be given to profile_free. Else it is empty, and why says in
 * words what is wrong, with the file and line. */
int profile_read(struct profile *p, const char *path, char why[PROFILE_WHY]);
void profile_free(struct profile *p);

uint64_t profile_bytes(const struct profile *p);
