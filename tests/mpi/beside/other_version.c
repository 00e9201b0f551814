/* A library to preload beside the component: Open MPI is a later one. */
#include <mpi.h>
#include <string.h>

int PMPI_Get_library_version(char *version, int *length)
{
    strcpy(version, "Open MPI v5.0.7, package: none");
    *length = (int)strlen(version);
    return MPI_SUCCESS;
}
