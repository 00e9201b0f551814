/* A library to preload beside the shim: it delays rank 3 by three seconds in the first call after MPI_Init.
 */
#include <dlfcn.h>
#include <mpi.h>
#include <unistd.h>

int PMPI_Comm_rank(MPI_Comm comm, int *rank)
{
    static int (*next)(MPI_Comm comm, int *rank);
    if (next)
        return next(comm, rank);
    *(void **)&next = dlsym(RTLD_NEXT, "PMPI_Comm_rank");
    int rc = next(comm, rank);
    if (*rank == 3)
        sleep(3);
    return rc;
}
