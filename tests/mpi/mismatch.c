/* Rank 1 reduces more than the others. Errors are returned. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    static float tensor[30000];
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int rc =
        MPI_Allreduce(MPI_IN_PLACE, tensor, rank == 1 ? 30000 : 20000, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    printf("mismatch: rank %d: %s\n", rank, rc == MPI_SUCCESS ? "no error" : "an error");
    MPI_Finalize();
    return 0;
}
