/* More communicators at once than the switch has jobs for, then the same number one after another: each
 * reduces; then some of all ranks and some of pairs in turns. "crowd threads" asks for MPI_THREAD_MULTIPLE:
 * then the switch must refuse some of the former, and none of the latter. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { COMMS = 20, TENSOR = 5000 };

static int reduce(MPI_Comm comm, int number)
{
    int rank, size, wrong = 0;
    int *tensor = malloc(TENSOR * sizeof *tensor);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (int i = 0; i < TENSOR; i++)
        tensor[i] = rank + number + i;
    MPI_Allreduce(MPI_IN_PLACE, tensor, TENSOR, MPI_INT, MPI_SUM, comm);
    for (int i = 0; i < TENSOR; i++)
        wrong += tensor[i] != size * (size - 1) / 2 + size * (number + i);
    free(tensor);
    return wrong;
}

/* A communicator of all ranks or of pairs, which may be where the one before it was. */
static int reduce_in_part(int number)
{
    MPI_Comm comm;
    int rank, wrong;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, number % 2 ? rank / 2 : 0, 0, &comm);
    wrong = reduce(comm, number);
    MPI_Comm_free(&comm);
    return wrong;
}

int main(int argc, char **argv)
{
    MPI_Comm comms[COMMS];
    int wrong = 0, level = argc > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE;
    MPI_Init_thread(&argc, &argv, level, &level);
    for (int c = 0; c < COMMS; c++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[c]);
        wrong += reduce(comms[c], c);
    }
    for (int c = 0; c < COMMS; c++)
        MPI_Comm_free(&comms[c]);
    MPI_Barrier(MPI_COMM_WORLD); /* every rank has left every job */
    for (int c = 0; c < COMMS; c++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[c]);
        wrong += reduce(comms[c], c);
        MPI_Comm_free(&comms[c]);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    for (int c = 0; argc == 1 && c < COMMS; c++)
        wrong += reduce_in_part(c);
    printf("crowd: %d wrong\n", wrong);
    MPI_Finalize();
    return wrong != 0;
}
