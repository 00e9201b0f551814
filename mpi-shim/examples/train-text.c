/* Trains a language model of 450,000 parameters, by data-parallel SGD (training.h): it learns to tell the
 * next character of the texts that it is given. */
#include <getopt.h>
#include <mpi.h>
#include <stdlib.h>

#include "text.h"
#include "training.h"

/* Gradients of 1.8 MB. */
static const int hidden[2] = {384, 128};

enum { BATCH = 256 };

static const char usage[] = "usage: train-text [--epochs N] [--steps N, of an epoch] FILE...\n";

static void read_options(struct training *t, int argc, char **argv)
{
    static const struct option longs[] = {
        {"epochs", required_argument, NULL, 'e'},
        {"steps", required_argument, NULL, 's'},
        {"help", no_argument, NULL, 'h'},
        {0},
    };
    int c;
    while ((c = getopt_long(argc, argv, "h", longs, NULL)) != -1) {
        if (c == 'e')
            t->epochs = atoi(optarg);
        else if (c == 's')
            t->steps = atoi(optarg);
        else
            training_usage(usage, c == 'h');
    }
    if (t->epochs < 1 || t->steps < 0 || optind == argc)
        training_usage(usage, false);
}

int main(int argc, char **argv)
{
    struct learner learner;
    struct training t = {.learner = &learner, .epochs = 10, .what = "characters"};
    struct text text;
    char error[256];
    read_options(&t, argc, argv);
    MPI_Init(&argc, &argv);
    if (text_read(&text, argv + optind, argc - optind, error, sizeof error) < 0)
        training_stop(error);
    const struct lessons lessons = text_lessons(&text);
    if (learner_init(&learner, &lessons, hidden, BATCH, 0.2f) < 0)
        training_stop("no memory for the network");
    int status = training_run(&t);
    learner_free(&learner);
    text_free(&text);
    return status;
}
