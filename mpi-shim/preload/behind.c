#include "behind.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct behind behind_mpi, behind_pmpi;
int (*behind_invoke_handler)(void *handler, void *object, int type, int error, const char *message);

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
    fprintf(stderr, "swagg: no %s behind the preload: %s\n", name, dlerror());
    abort();
}

__attribute__((constructor)) static void find_all(void)
{
    find(&behind_mpi.init, "MPI_Init");
    find(&behind_mpi.init_thread, "MPI_Init_thread");
    find(&behind_mpi.finalize, "MPI_Finalize");
    find(&behind_pmpi.init, "PMPI_Init");
    find(&behind_pmpi.init_thread, "PMPI_Init_thread");
    find(&behind_pmpi.finalize, "PMPI_Finalize");
#define FIND(name, ...)                                                                                      \
    find(&behind_mpi.collectives.name, "MPI_" #name);                                                        \
    find(&behind_pmpi.collectives.name, "PMPI_" #name);
    COLLECTIVES(FIND)
#undef FIND
    find(&get_library_version, "PMPI_Get_library_version");
    look_for(&behind_invoke_handler, "ompi_errhandler_invoke");
    param_check = dlsym(RTLD_NEXT, "ompi_mpi_param_check");
}

bool behind_is_open_mpi(void)
{
    char version[16384]; /* other libraries' versions are longer than Open MPI's header allows */
    int length;
    return get_library_version(version, &length) == MPI_SUCCESS && strncmp(version, "Open MPI v", 10) == 0;
}

bool behind_checks_arguments(void)
{
    return !param_check || *param_check;
}
