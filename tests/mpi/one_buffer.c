/* Allreduces in which some ranks have one buffer to send from and to receive in, some MPI_IN_PLACE, some two
 * buffers; each time others. Open MPI takes that for one element, and where it is told to check nothing.
 * Arguments: how many elements; and if there is a second, then each is followed by a reduce with one buffer
 * on all ranks, of which Open MPI makes wrong sums. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { CALLS = 150 }; /* more than the shim has for Open MPI before it measures */

static int rank, size;

static int count_wrong(const int *sums, int count, int call)
{
    int wrong = 0;
    for (int i = 0; i < count; i++)
        wrong += sums[i] != size * (size - 1) / 2 + size * (call + i);
    return wrong;
}

int main(int argc, char **argv)
{
    int wrong = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int count = atoi(argv[1]);
    int *mine = malloc((size_t)count * sizeof *mine), *sums = malloc((size_t)count * sizeof *sums);
    for (int call = 0; call < CALLS; call++) {
        const void *sends[] = {sums, MPI_IN_PLACE, mine};
        for (int i = 0; i < count; i++)
            mine[i] = sums[i] = rank + call + i;
        MPI_Allreduce(sends[(rank + call) % 3], sums, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        wrong += count_wrong(sums, count, call);
        if (argc == 2)
            continue;
        for (int i = 0; i < count; i++)
            sums[i] = rank + call + i;
        MPI_Reduce(sums, sums, count, MPI_INT, MPI_SUM, 1, MPI_COMM_WORLD);
        wrong += rank == 1 ? count_wrong(sums, count, call) : 0;
    }
    printf("one_buffer: rank %d: %d wrong\n", rank, wrong);
    free(mine);
    free(sums);
    MPI_Finalize();
    return wrong != 0;
}
