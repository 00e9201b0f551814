/* The workers of data-parallel training, all in one process and without a network: each has its own model,
 * and gradients are summed as floats, or as libswagg (compress.h) and the switch would sum them compressed.
 * By the same seeds everything is the same in every run. One thread. */
#pragma once

#include "compress.h"
#include "examples/learner.h"

struct workers_config {
    unsigned workers;
    const struct lessons *lessons;
    const int *hidden; /* as of learner_init */
    size_t batch;
    float rate;
    struct swagg_options options; /* its options of compression count; the same on all workers */
    double loss;   /* of packets, either way: a sum that does not come to a worker is zeros to it, one that
                      lacks a worker is to all */
    unsigned late; /* workers that come late in a step, others in each: sums are of the rest. Compressed,
                      error feedback keeps what is not in them; of floats it is lost, and those that are there
                      count for all. Not with losses */
};

struct worker {
    struct learner learner;
    struct compress compress;
    struct compress_call *call; /* in progress */
};

struct workers {
    struct workers_config cfg;
    struct worker *worker;         /* [cfg.workers] */
    struct xfer_segment *gradient; /* the same */
    float *total;                  /* of floats */
    uint8_t *sums;                 /* of indices, as the switch has them */
    uint8_t *lost;                 /* [elements] of them: whether they come to nobody */
    uint64_t random, lateness;     /* for losses, and for who is late */
    bool is_late[AGG_MAX_RANKS];   /* in this step */
    uint64_t missed;               /* floats, of all workers, that were zeros */
};

/* 0, or -1 with a line on stderr. */
int workers_open(struct workers *w, const struct workers_config *cfg);
void workers_close(struct workers *w);

void workers_shuffle(struct workers *w);

/* Every worker's gradient; returns the mean loss of their samples. Then their sum, in everybody's place, and
 * a step. */
double workers_gradients(struct workers *w, size_t step);
void workers_sum(struct workers *w);
void workers_sum_compressed(struct workers *w); /* a part of it */
void workers_descend(struct workers *w, size_t step);

/* Gives all the mean of their models. */
void workers_synchronize(struct workers *w);

/* Whether all models are the same, bit for bit. */
bool workers_agree(const struct workers *w);

/* The mean square error of all compressed sums, by their square, as libswagg measures it. 0: there were none.
 */
double workers_nmse(const struct workers *w);
