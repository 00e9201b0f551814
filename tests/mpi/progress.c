/* Every rank posts a large message to its right neighbour and goes on to MPI_Allreduce; the neighbour first
 * receives the message. A rank that waits in the collective must let Open MPI progress, or all of them wait
 * for ever. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { MESSAGE = 4 << 20, TENSOR = 100000, ROUNDS = 3 };

int main(int argc, char **argv)
{
    int rank, size, wrong = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    char *out = malloc(MESSAGE), *in = malloc(MESSAGE);
    float *tensor = malloc(TENSOR * sizeof *tensor);
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Request request = MPI_REQUEST_NULL;
        for (int i = 0; i < MESSAGE; i++)
            out[i] = (char)(i + rank + round);
        for (int i = 0; i < TENSOR; i++)
            tensor[i] = (float)(rank + round);
        if (rank % 2 == 0 && rank + 1 < size)
            MPI_Isend(out, MESSAGE, MPI_CHAR, rank + 1, round, MPI_COMM_WORLD, &request);
        if (rank % 2 == 1) {
            MPI_Recv(in, MESSAGE, MPI_CHAR, rank - 1, round, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            for (int i = 0; i < MESSAGE; i++)
                wrong += in[i] != (char)(i + rank - 1 + round);
        }
        MPI_Allreduce(MPI_IN_PLACE, tensor, TENSOR, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
        for (int i = 0; i < TENSOR; i++)
            wrong += tensor[i] != (float)(size * (size - 1) / 2 + size * round);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    printf("progress: rank %d, %d wrong\n", rank, wrong);
    free(out);
    free(in);
    free(tensor);
    MPI_Finalize();
    return wrong != 0;
}
