/* One worker of data-parallel training, over a network by libswagg: the same model, steps and samples as
 * those of workers.h. One thread. */
#pragma once

#include "examples/learner.h"
#include "swagg.h"

struct rank_config {
    struct swagg_options options; /* of swagg_open, all of them */
    const struct lessons *lessons;
    const int *hidden;           /* as of learner_init */
    size_t batch, steps, stride; /* of an epoch; of the test's samples, one in so many */
    float rate;
    int epochs;
    unsigned late, late_ms; /* ranks that come so much late in a step, others in each */
};

/* Trains; after each epoch the ranks make their models the same. Rank 0 writes one JSON object to stdout.
 * Returns 0, or -1 with a line on stderr. */
int rank_train(const struct rank_config *cfg);
