/* Trains a small neural network to read handwritten digits, by data-parallel SGD (training.h). */
#include <getopt.h>
#include <mpi.h>
#include <stdlib.h>

#include "digits.h"
#include "training.h"

/* Gradients of 150 KiB. */
static const int hidden[2] = {192, 128};

enum { BATCH = 64 };

static const char usage[] =
    "usage: train-digits --data FILE.csv.gz [--epochs N] [--model FILE, to be written]\n";

static const char *read_options(struct training *t, int argc, char **argv)
{
    static const struct option longs[] = {
        {"epochs", required_argument, NULL, 'e'},
        {"data", required_argument, NULL, 'd'},
        {"model", required_argument, NULL, 'm'},
        {"help", no_argument, NULL, 'h'},
        {0},
    };
    const char *data = NULL;
    int c;
    while ((c = getopt_long(argc, argv, "h", longs, NULL)) != -1) {
        if (c == 'e')
            t->epochs = atoi(optarg);
        else if (c == 'd')
            data = optarg;
        else if (c == 'm')
            t->model = optarg;
        else
            training_usage(usage, c == 'h');
    }
    if (!data || t->epochs < 1 || optind < argc)
        training_usage(usage, false);
    return data;
}

int main(int argc, char **argv)
{
    struct learner learner;
    struct training t = {.learner = &learner, .epochs = 10, .what = "images"};
    struct digits digits;
    char error[256];
    const char *data = read_options(&t, argc, argv);
    MPI_Init(&argc, &argv);
    if (digits_read(&digits, data, error, sizeof error) < 0)
        training_stop(error);
    const struct lessons lessons = digits_lessons(&digits);
    if (learner_init(&learner, &lessons, hidden, BATCH, 0.05f) < 0)
        training_stop("no memory for the network");
    int status = training_run(&t);
    learner_free(&learner);
    digits_free(&digits);
    return status;
}
