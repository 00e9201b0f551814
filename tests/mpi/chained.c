/* Handles SIGUSR1 itself, and hands it on to the handler that it found, as Python's faulthandler does if
 * asked; after MPI_Finalize, too. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>

static struct sigaction found;

static void on_signal(int number)
{
    if (found.sa_handler != SIG_DFL && found.sa_handler != SIG_IGN)
        found.sa_handler(number);
}

int main(int argc, char **argv)
{
    const struct sigaction own = {.sa_handler = on_signal};
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    sigaction(SIGUSR1, &own, &found);
    raise(SIGUSR1);
    MPI_Finalize();
    raise(SIGUSR1);
    printf("chained: rank %d lives\n", rank);
    return 0;
}
