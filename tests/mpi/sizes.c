/* Small tensors, then large ones, then small ones again. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    static const int sizes[] = {2500, 2500, 600000, 600000, 600001, 2500};
    int rank, size, wrong = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int s = 0; s < (int)(sizeof sizes / sizeof sizes[0]); s++) {
        int *tensor = malloc((size_t)sizes[s] * sizeof *tensor);
        for (int i = 0; i < sizes[s]; i++)
            tensor[i] = rank + s + i;
        MPI_Allreduce(MPI_IN_PLACE, tensor, sizes[s], MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        for (int i = 0; i < sizes[s]; i++)
            wrong += tensor[i] != size * (size - 1) / 2 + size * (s + i);
        free(tensor);
    }
    printf("sizes: %d wrong\n", wrong);
    MPI_Finalize();
    return wrong != 0;
}
