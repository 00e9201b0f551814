#include "training.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <zlib.h>

struct run {
    const struct training *training;
    int rank, ranks;
    double loss, accuracy;
};

enum { EXIT_USAGE = 2 };

void training_usage(const char *usage, bool asked)
{
    fputs(usage, asked ? stdout : stderr);
    exit(asked ? EXIT_SUCCESS : EXIT_USAGE);
}

void training_stop(const char *why)
{
    fprintf(stderr, "training: %s\n", why);
    MPI_Abort(MPI_COMM_WORLD, 1);
    exit(1);
}

/* --- one epoch --- */

static size_t steps_of(const struct training *t)
{
    const size_t all = learner_steps(t->learner);
    return t->steps > 0 && (size_t)t->steps < all ? (size_t)t->steps : all;
}

static size_t samples_of(const struct training *t)
{
    const size_t most = steps_of(t) * t->learner->batch;
    return most < t->learner->samples ? most : t->learner->samples;
}

/* Returns the mean loss. */
static double train_epoch(const struct run *r)
{
    struct learner *l = r->training->learner;
    double loss = 0;
    learner_shuffle(l);
    for (size_t step = 0; step < steps_of(r->training); step++) {
        loss += learner_gradient(l, step, r->rank, r->ranks);
        MPI_Allreduce(MPI_IN_PLACE, l->network.gradient, (int)l->network.parameters, MPI_FLOAT, MPI_SUM,
                      MPI_COMM_WORLD);
        learner_descend(l, step);
    }
    MPI_Allreduce(MPI_IN_PLACE, &loss, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return loss / (double)samples_of(r->training);
}

/* The share of the test samples that are recognized. */
static double test(const struct run *r)
{
    int counts[2];
    counts[0] = learner_test(r->training->learner, (size_t)r->rank, (size_t)r->ranks, &counts[1]);
    MPI_Allreduce(MPI_IN_PLACE, counts, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    return (double)counts[0] / counts[1];
}

static void run_epoch(struct run *r, int epoch)
{
    double began = MPI_Wtime();
    r->loss = train_epoch(r);
    r->accuracy = test(r);
    if (r->rank > 0)
        return;
    printf("epoch %2d  loss %.4f  accuracy %.4f  %6.1f ms\n", epoch, r->loss, r->accuracy,
           (MPI_Wtime() - began) * 1e3);
    fflush(stdout);
}

/* --- the whole run --- */

static unsigned long model_hash(const struct network *n)
{
    return crc32(0, (const unsigned char *)n->model, (unsigned)(n->parameters * sizeof *n->model));
}

/* Whether all ranks have the same model. */
static int models_agree(const struct network *n)
{
    unsigned long bounds[2] = {model_hash(n), ~model_hash(n)};
    MPI_Allreduce(MPI_IN_PLACE, bounds, 2, MPI_UNSIGNED_LONG, MPI_MAX, MPI_COMM_WORLD);
    return bounds[0] == ~bounds[1];
}

static void write_model(const struct network *n, const char *path)
{
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(n->model, sizeof *n->model, n->parameters, f) != n->parameters || fclose(f) != 0)
        training_stop("cannot write the model's file");
}

int training_run(const struct training *t)
{
    struct run r = {.training = t};
    const struct network *n = &t->learner->network;
    MPI_Comm_rank(MPI_COMM_WORLD, &r.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &r.ranks);
    if (r.rank == 0)
        printf("%d ranks, %zu %s to learn, %zu to test, gradients of %zu bytes\n", r.ranks, samples_of(t),
               t->what, t->learner->test_count, n->parameters * sizeof(float));
    double start = MPI_Wtime();
    for (int epoch = 1; epoch <= t->epochs; epoch++)
        run_epoch(&r, epoch);
    int agree = models_agree(n);
    if (r.rank == 0)
        printf("model %08lx, %s on all ranks; loss %.6f, accuracy %.6f, %.3f s\n", model_hash(n),
               agree ? "the same" : "NOT THE SAME", r.loss, r.accuracy, MPI_Wtime() - start);
    if (r.rank == 0 && t->model)
        write_model(n, t->model);
    MPI_Finalize();
    return agree ? 0 : 1;
}
