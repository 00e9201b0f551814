#include "library.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

bool library_is(const char *version)
{
    return strncmp(version, "Open MPI v", 10) == 0;
}

/* An allreduce of one element, and everything where Open MPI is told to check nothing. */
bool library_takes_one_buffer(enum offered function, int count)
{
    static const bool *_Atomic checks; /* MCA parameter mpi_param_check */
    if (!checks)
        checks = dlsym(RTLD_DEFAULT, "ompi_mpi_param_check");
    return function == OFFERED_Reduce_scatter || function == OFFERED_Reduce_scatter_block ||
           (function == OFFERED_Allreduce && count <= 1) || (checks && !*checks);
}

const char *library_other_launcher(bool *first)
{
    const char *size = getenv("PMI_SIZE"), *rank = getenv("PMI_RANK");
    *first = rank && atoi(rank) == 0;
    return size && atoi(size) > 1 ? "MPICH's mpiexec" : NULL;
}

int library_add_error(int *code)
{
    return PMPI_Add_error_code(MPI_ERR_OTHER, code);
}

/* Open MPI 4.1 compares these as if they had the other sign. */
bool library_differs(MPI_Datatype type, enum swagg_op op)
{
    return (type == MPI_UNSIGNED_LONG || type == MPI_OFFSET) && (op == SWAGG_MIN || op == SWAGG_MAX);
}
