#include "native.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct native native_mpi, native_pmpi;
int (*native_invoke_handler)(void *handler, void *object, int type, int error, const char *message);

static int (*get_library_version)(char *version, int *length);
static const bool *param_check; /* Open MPI's; NULL where there is none */

/* POSIX allows dlsym's pointer to be used as a function's; in C it takes a detour. */
static void look_for(void *function, const char *name)
{
    *(void **)function = dlsym(RTLD_NEXT, name);
}

static void find(void *function, const char *name)
{
    look_for(function, name);
    if (*(void **)function)
        return;
    fprintf(stderr, "swagg: no %s behind the shim: %s\n", name, dlerror());
    abort();
}

__attribute__((constructor)) static void find_all(void)
{
    find(&native_mpi.init, "MPI_Init");
    find(&native_mpi.init_thread, "MPI_Init_thread");
    find(&native_mpi.finalize, "MPI_Finalize");
    find(&native_mpi.allreduce, "MPI_Allreduce");
    find(&native_mpi.reduce, "MPI_Reduce");
    find(&native_pmpi.init, "PMPI_Init");
    find(&native_pmpi.init_thread, "PMPI_Init_thread");
    find(&native_pmpi.finalize, "PMPI_Finalize");
    find(&native_pmpi.allreduce, "PMPI_Allreduce");
    find(&native_pmpi.reduce, "PMPI_Reduce");
#define FIND(name, ...) find(&native_mpi.name, "MPI_" #name), find(&native_pmpi.name, "PMPI_" #name);
    COUNTED_COLLECTIVES(FIND)
#undef FIND
    find(&get_library_version, "PMPI_Get_library_version");
    look_for(&native_invoke_handler, "ompi_errhandler_invoke");
    param_check = dlsym(RTLD_NEXT, "ompi_mpi_param_check");
}

bool native_is_open_mpi(void)
{
    char version[16384]; /* other libraries' versions are longer than Open MPI's header allows */
    int length;
    return get_library_version(version, &length) == MPI_SUCCESS && strncmp(version, "Open MPI v", 10) == 0;
}

bool native_checks_arguments(void)
{
    return !param_check || *param_check;
}
