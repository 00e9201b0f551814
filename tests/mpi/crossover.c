/* Many small reductions, then some of each size, first of all ranks and then of the same ranks backwards.
 * With a number: only so many small ones. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { SMALL_CALLS = 150, TIMES = 6, LARGEST = 8 << 20 };

static int tensor[LARGEST / sizeof(int)], sums[LARGEST / sizeof(int)];
static int rank, size, wrong;

static void reduce(size_t bytes, int root, MPI_Comm comm)
{
    const int count = (int)(bytes / sizeof(int));
    int own;
    MPI_Comm_rank(comm, &own);
    for (int i = 0; i < count; i++)
        tensor[i] = rank + i;
    if (root < 0)
        MPI_Allreduce(tensor, sums, count, MPI_INT, MPI_SUM, comm);
    else
        MPI_Reduce(tensor, sums, count, MPI_INT, MPI_SUM, root, comm);
    for (int i = 0; i < count && (root < 0 || root == own); i++)
        wrong += sums[i] != size * (size - 1) / 2 + size * i;
}

static void all_sizes(MPI_Comm comm)
{
    for (size_t bytes = LARGEST; bytes >= 512; bytes /= 4)
        for (int i = 0; i < TIMES; i++) {
            reduce(bytes, -1, comm);
            reduce(bytes, i % size, comm);
        }
}

int main(int argc, char **argv)
{
    MPI_Comm backwards;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = argc > 1 ? atoi(argv[1]) : SMALL_CALLS; i > 0; i--)
        reduce(8, -1, MPI_COMM_WORLD);
    if (argc == 1) {
        all_sizes(MPI_COMM_WORLD);
        MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &backwards);
        all_sizes(backwards);
        MPI_Comm_free(&backwards);
    }
    printf("crossover: rank %d: %d wrong\n", rank, wrong);
    MPI_Finalize();
    return wrong != 0;
}
