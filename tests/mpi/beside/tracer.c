/* A library to preload beside the shim, like a tracer: it counts a program's calls, and ends the program if
 * it did not see MPI_Init. */
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
