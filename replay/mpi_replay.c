/* mpi-replay: what swagg-replay measures, with gradients summed by an MPI library. Calls are made one after
 * the other, each as soon as its gradients are there and the one before it has ended (blocking.h).
 *
 *     mpirun ... mpi-replay vgg19.profile */
#include <mpi.h>

#include "blocking.h"
#include "standard_streams.h"
#include "steps.h"

enum { MOST = 1 << 30 }; /* elements of a call, whose count is an int */

static int sum(float values[], size_t n)
{
    for (size_t at = 0, some; at < n; at += some) {
        some = n - at < MOST ? n - at : MOST;
        MPI_Allreduce(MPI_IN_PLACE, values + at, (int)some, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    }
    return 0;
}

int main(int argc, char *argv[])
{
    struct blocking b = {.intro = "usage: mpi-replay PROFILE [OPTION...]\n"
                                  "Replays the steps of a model's training over MPI_Allreduce.\n",
                         .name = "MPI",
                         .sum = sum};

    standard_streams_begin();
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &b.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &b.ranks);
    const int status = blocking_main(&b, argc, argv);
    if (status == EXIT_BAD)
        MPI_Abort(MPI_COMM_WORLD, status);
    MPI_Finalize();
    return status;
}
