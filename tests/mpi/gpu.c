/* Reductions of buffers in a simulated GPU's memory, and of others in between. */
#include <mpi.h>
#include <stdio.h>

#include "beside/cuda.h"

enum { TENSOR = 20000 };

static int rank, size, wrong;
static int send[TENSOR], sums[TENSOR];

static void sum(const void *device, bool managed, int root)
{
    fake_device_buffer(device, managed);
    for (int i = 0; i < TENSOR; i++)
        send[i] = rank + i;
    if (root < 0)
        MPI_Allreduce(send, sums, TENSOR, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    else
        MPI_Reduce(send, sums, TENSOR, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD);
    for (int i = 0; (root < 0 || rank == root) && i < TENSOR; i++)
        wrong += sums[i] != size * (size - 1) / 2 + size * i;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    sum(NULL, false, -1);
    sum(send, false, -1);
    sum(sums, false, -1);
    sum(send, false, 1);
    sum(send, true, -1);                    /* managed: the CPU reads it */
    sum(rank == 1 ? NULL : sums, false, 1); /* means nothing where nothing is received */
    fake_device_buffer(NULL, false);
    printf("gpu: rank %d, %d wrong\n", rank, wrong);
    MPI_Finalize();
    return wrong != 0;
}
