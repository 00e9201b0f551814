/* A library to preload beside the shim, in the manner of a tracer: it counts what a program calls, and ends
 * the program if it was left out of MPI_Init. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int ready, calls;

int MPI_Init(int *argc, char ***argv)
{
    int rc = PMPI_Init(argc, argv);
    ready++;
    return rc;
}

int MPI_Allreduce(const void *send, void *recv, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    if (!ready)
        abort();
    calls++;
    return PMPI_Allreduce(send, recv, count, type, op, comm);
}

int MPI_Finalize(void)
{
    printf("tracer: %d times initialised, %d calls\n", ready, calls);
    return PMPI_Finalize();
}
