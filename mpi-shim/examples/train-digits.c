/* Trains a small neural network to read handwritten digits, by data-parallel SGD: every rank has the whole
 * model, takes its share of each batch, and MPI_Allreduce sums the gradients. Plain MPI; nothing here knows
 * of swagg.
 *
 * Everything but the order in which gradients are added is the same in every run: if the sums are
 * reproducible, so is the model, bit for bit. */
#include <getopt.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "digits.h"
#include "network.h"

/* Gradients of 150 KiB. */
static const int widths[LAYERS + 1] = {PIXELS, 192, 128, CLASSES};

enum { BATCH = 64, TEST_EVERY = 5 }; /* every fifth image is used for testing */

static const char usage[] =
    "usage: train-digits --data FILE.csv.gz [--epochs N] [--model FILE, to be written]";

struct run {
    int rank, ranks, epochs;
    float rate, momentum;
    const char *data, *model;
    struct digits digits;
    struct network network;
    float *velocity;
    size_t *training; /* indices, shuffled anew for every epoch */
    size_t samples;
    uint64_t random;
};

static void stop(const char *why)
{
    fprintf(stderr, "train-digits: %s\n", why);
    MPI_Abort(MPI_COMM_WORLD, 1);
    exit(1);
}

/* --- one epoch --- */

static void shuffle(struct run *r)
{
    for (size_t i = r->samples - 1; i > 0; i--) {
        size_t j = random_next(&r->random) % (i + 1), t = r->training[i];
        r->training[i] = r->training[j];
        r->training[j] = t;
    }
}

static void descend(struct run *r, size_t samples)
{
    struct network *n = &r->network;
    for (size_t i = 0; i < n->parameters; i++) {
        r->velocity[i] = r->momentum * r->velocity[i] - r->rate * n->gradient[i] / (float)samples;
        n->model[i] += r->velocity[i];
    }
}

/* One step: the gradient of samples first..last-1 of the shuffled training set. Returns this rank's share of
 * the loss. */
static double step(struct run *r, size_t first, size_t last)
{
    struct network *n = &r->network;
    double loss = 0;
    memset(n->gradient, 0, n->parameters * sizeof *n->gradient);
    for (size_t i = first + (size_t)r->rank; i < last; i += (size_t)r->ranks) {
        size_t sample = r->training[i];
        loss += network_learn(n, r->digits.pixels[sample], r->digits.labels[sample]);
    }
    MPI_Allreduce(MPI_IN_PLACE, n->gradient, (int)n->parameters, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    descend(r, last - first);
    return loss;
}

/* Returns the mean loss. */
static double train_epoch(struct run *r)
{
    double loss = 0;
    shuffle(r);
    for (size_t first = 0; first < r->samples; first += BATCH)
        loss += step(r, first, first + BATCH < r->samples ? first + BATCH : r->samples);
    MPI_Allreduce(MPI_IN_PLACE, &loss, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return loss / (double)r->samples;
}

/* The share of the test images that are recognized. */
static double test(struct run *r)
{
    int counts[2] = {0, 0};
    for (size_t i = (size_t)r->rank * TEST_EVERY; i < r->digits.count; i += (size_t)r->ranks * TEST_EVERY) {
        counts[0] += network_classify(&r->network, r->digits.pixels[i]) == r->digits.labels[i];
        counts[1]++;
    }
    MPI_Allreduce(MPI_IN_PLACE, counts, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    return (double)counts[0] / counts[1];
}

/* --- the whole run --- */

static void prepare(struct run *r)
{
    char error[256];
    if (digits_read(&r->digits, r->data, error, sizeof error) < 0)
        stop(error);
    if (network_init(&r->network, widths, 1) < 0)
        stop("no memory for the network");
    r->velocity = calloc(r->network.parameters, sizeof *r->velocity);
    r->training = malloc(r->digits.count * sizeof *r->training);
    if (!r->velocity || !r->training)
        stop("no memory for training");
    for (size_t i = 0; i < r->digits.count; i++)
        if (i % TEST_EVERY)
            r->training[r->samples++] = i;
}

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
        stop("cannot write the model's file");
}

static void read_options(struct run *r, int argc, char **argv)
{
    static const struct option longs[] = {
        {"epochs", required_argument, NULL, 'e'},
        {"data", required_argument, NULL, 'd'},
        {"model", required_argument, NULL, 'm'},
        {0},
    };
    int c;
    while ((c = getopt_long(argc, argv, "", longs, NULL)) != -1) {
        if (c == 'e')
            r->epochs = atoi(optarg);
        else if (c == 'd')
            r->data = optarg;
        else if (c == 'm')
            r->model = optarg;
        else
            stop(usage);
    }
    if (!r->data || r->epochs < 1 || optind < argc)
        stop(usage);
}

int main(int argc, char **argv)
{
    struct run r = {.epochs = 10, .rate = 0.05f, .momentum = 0.9f, .random = 2};
    double accuracy = 0, loss = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &r.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &r.ranks);
    read_options(&r, argc, argv);
    prepare(&r);
    if (r.rank == 0)
        printf("%d ranks, %zu images to learn, %zu to test, gradients of %zu bytes\n", r.ranks, r.samples,
               r.digits.count - r.samples, r.network.parameters * sizeof(float));
    double start = MPI_Wtime();
    for (int epoch = 1; epoch <= r.epochs; epoch++) {
        double began = MPI_Wtime();
        loss = train_epoch(&r);
        accuracy = test(&r);
        if (r.rank == 0) {
            printf("epoch %2d  loss %.4f  accuracy %.4f  %6.1f ms\n", epoch, loss, accuracy,
                   (MPI_Wtime() - began) * 1e3);
            fflush(stdout);
        }
    }
    int agree = models_agree(&r.network);
    if (r.rank == 0)
        printf("model %08lx, %s on all ranks; loss %.6f, accuracy %.6f, %.3f s\n", model_hash(&r.network),
               agree ? "the same" : "NOT THE SAME", loss, accuracy, MPI_Wtime() - start);
    if (r.rank == 0 && r.model)
        write_model(&r.network, r.model);
    digits_free(&r.digits);
    network_free(&r.network);
    free(r.velocity);
    free(r.training);
    MPI_Finalize();
    return agree ? 0 : 1;
}
