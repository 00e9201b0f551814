/* Calls that are left by an error handler which does not return. Later calls must work as if these had not
 * been made. */
#include <mpi.h>
#include <setjmp.h>
#include <stdio.h>

enum { TENSOR = 20000 };

static jmp_buf before;
static int tensor[TENSOR], sums[TENSOR];

static void leave(MPI_Comm *comm, int *error, ...)
{
    (void)comm;
    (void)error;
    longjmp(before, 1);
}

static int wrong_sums(int rank, int size)
{
    int wrong = 0;
    for (int i = 0; i < TENSOR; i++)
        tensor[i] = rank + i;
    MPI_Allreduce(tensor, sums, TENSOR, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < TENSOR; i++)
        wrong += sums[i] != size * (size - 1) / 2 + size * i;
    return wrong;
}

int main(int argc, char **argv)
{
    int rank, size, wrong = 0;
    MPI_Errhandler handler;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_create_errhandler(leave, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    if (setjmp(before) == 0)
        MPI_Bcast(tensor, -1, MPI_INT, 0, MPI_COMM_WORLD);
    wrong += wrong_sums(rank, size);
    if (setjmp(before) == 0)
        MPI_Allreduce(tensor, sums, -1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    wrong += wrong_sums(rank, size);
    printf("left: rank %d: %d wrong\n", rank, wrong);
    MPI_Errhandler_free(&handler);
    MPI_Finalize();
    return wrong != 0;
}
