/* mpi-replay: what swagg-replay measures, with gradients summed by an MPI library. Calls are made one after
 * the other, each as soon as its gradients are there and the one before it has ended: what a thread does that
 * a framework has for its MPI calls.
 *
 *     mpirun ... mpi-replay vgg19.profile */
#include <getopt.h>
#include <mpi.h>
#include <stdlib.h>

#include "standard_streams.h"
#include "steps.h"
#include "version.h"

enum { MOST = 1 << 30 }; /* elements of a call, whose count is an int */

static const char intro[] = "usage: mpi-replay PROFILE [OPTION...]\n"
                            "Replays the steps of a model's training over MPI_Allreduce.\n";

static int post(void *ctx, struct steps_bucket *bucket)
{
    (void)ctx;
    for (size_t at = 0, n; at < bucket->count; at += n) {
        n = bucket->count - at < MOST ? bucket->count - at : MOST;
        MPI_Allreduce(bucket->send + at, bucket->recv + at, (int)n, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    }
    bucket->ended = steps_now();
    return 0;
}

static int rest(void *ctx, double until)
{
    (void)ctx;
    steps_sleep(until);
    return 0;
}

static int finish(void *ctx)
{
    (void)ctx;
    return 0;
}

static int sum(void *ctx, float values[], size_t n)
{
    (void)ctx;
    MPI_Allreduce(MPI_IN_PLACE, values, (int)n, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    return 0;
}

static int run(const char *path, const struct steps_options *o, const struct steps_calls *calls)
{
    char why[PROFILE_WHY];
    struct profile profile;

    if (profile_read(&profile, path, why) != 0) {
        complain("%s", why);
        return EXIT_BAD;
    }
    const int status = steps_run(&profile, o, calls);
    profile_free(&profile);
    return status;
}

int main(int argc, char *argv[])
{
    struct steps_calls calls = {.name = "MPI", .post = post, .rest = rest, .finish = finish, .sum = sum};
    struct steps_options steps = steps_defaults();
    const struct option_group groups[] = {{steps_rows, STEPS_OPTIONS, &steps},
                                          {schedule_rows, SCHEDULE_OPTIONS, &steps.how}};

    standard_streams_begin();
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &calls.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &calls.ranks);
    const struct command_line line = {.version = build_version,
                                      .intro = intro,
                                      .operands = "which profile?",
                                      .groups = groups,
                                      .count = sizeof(groups) / sizeof(groups[0]),
                                      .is_silent = calls.rank != 0};
    int status = options_read(&line, argc, argv);
    if (status == OPTIONS_READ)
        status = run(argv[optind], &steps, &calls);
    if (status == EXIT_BAD) /* other ranks may wait for this one */
        MPI_Abort(MPI_COMM_WORLD, status);
    MPI_Finalize();
    return status;
}
