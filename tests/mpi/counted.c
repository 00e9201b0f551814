/* Collectives that the shim takes and others, and some that stay with Open MPI, from one place or several. */
#include <mpi.h>
#include <stdio.h>

static int barriers(int times)
{
    int rc = 0;
    while (times-- > 0)
        rc |= MPI_Barrier(MPI_COMM_WORLD);
    return rc;
}

int main(int argc, char **argv)
{
    static int in[4096], out[4 * 4096];
    static const int parts[] = {1024, 1024, 1024, 1024};
    long double wide = 1, sum = 0;
    MPI_Request request;
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int rc = barriers(7) | MPI_Barrier(MPI_COMM_WORLD) | PMPI_Barrier(MPI_COMM_WORLD);
    rc |= MPI_Bcast(in, 4096, MPI_INT, 0, MPI_COMM_WORLD);
    rc |= MPI_Allgather(in, 4096, MPI_INT, out, 4096, MPI_INT, MPI_COMM_WORLD);
    rc |= MPI_Reduce_scatter(in, out, parts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    rc |= MPI_Reduce_scatter_block(in, out, 1024, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    rc |= MPI_Iallreduce(in, out, 4096, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    rc |= MPI_Ireduce(in, out, 4096, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    rc |= MPI_Gather(in, 1024, MPI_INT, out, 1024, MPI_INT, 0, MPI_COMM_WORLD);
    rc |= MPI_Scan(in, out, 4096, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < 5; i++)
        rc |= MPI_Allreduce(&wide, &sum, 1, MPI_LONG_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    rc |= MPI_Reduce(&wide, &sum, 1, MPI_LONG_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Allreduce(in, out, 4096, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    printf("counted: rank %d: %s\n", rank, rc || sum != 4 ? "wrong" : "right");
    MPI_Finalize();
    return rc;
}
