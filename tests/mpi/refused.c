/* Calls that MPI refuses: the answers must be the same with the shim as without, and later calls must work as
 * if these had not been made. Prints the class of each error. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { TENSOR = 20000 };

static int rank, size;
static int tensor[TENSOR], sums[TENSOR];

static void show(const char *what, int rc)
{
    int class = MPI_SUCCESS, length;
    char text[MPI_MAX_ERROR_STRING];
    MPI_Error_class(rc, &class);
    MPI_Error_string(class, text, &length);
    printf("refused: rank %d: %s: %s\n", rank, what, text);
}

static int allreduce(const void *send, void *recv, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    return MPI_Allreduce(send, recv, count, type, op, comm);
}

static int reduce(const void *send, void *recv, int root)
{
    return MPI_Reduce(send, recv, TENSOR, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    int wrong = 0;
    const MPI_Comm world = MPI_COMM_WORLD;
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
    MPI_Comm_rank(world, &rank);
    MPI_Comm_size(world, &size);
    for (int round = 0; round < 2; round++) { /* before there is a job in the switch, and after */
        show("in place of the receiver", allreduce(tensor, MPI_IN_PLACE, TENSOR, MPI_INT, MPI_SUM, world));
        show("one buffer for both", allreduce(tensor, tensor, TENSOR, MPI_INT, MPI_SUM, world));
        show("count below 0", allreduce(tensor, sums, -1, MPI_INT, MPI_SUM, world));
        show("no type", allreduce(tensor, sums, TENSOR, MPI_DATATYPE_NULL, MPI_SUM, world));
        show("no operation", allreduce(tensor, sums, TENSOR, MPI_INT, MPI_OP_NULL, world));
        show("root below 0", reduce(tensor, sums, -7));
        show("root too high", reduce(tensor, sums, size));
        /* Wrong on every rank, but not in the same way. */
        show("in place, not root", reduce(rank == 1 ? tensor : MPI_IN_PLACE, tensor, 1));
        for (int i = 0; i < TENSOR; i++)
            tensor[i] = rank + i + round;
        MPI_Allreduce(tensor, sums, TENSOR, MPI_INT, MPI_SUM, world);
        for (int i = 0; i < TENSOR; i++)
            wrong += sums[i] != size * (size - 1) / 2 + size * (i + round);
    }
    printf("refused: rank %d: %d wrong\n", rank, wrong);
    MPI_Finalize();
    return wrong != 0;
}
