#include "behind.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

struct behind behind_mpi, behind_pmpi;
static int (*get_library_version)(char *version, int *length);

/* POSIX allows dlsym's pointer to be used as a function's; in C it takes a detour. */
static void find(void *function, const char *name)
{
    *(void **)function = dlsym(RTLD_NEXT, name);
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
#define FIND(name, ...)                                                                                      \
    find(&behind_mpi.name, "MPI_" #name);                                                                    \
    find(&behind_pmpi.name, "PMPI_" #name);
    REQUESTS(FIND)
#undef FIND
#define FIND(prefix, behind, name, ...)                                                                      \
    *(void **)&behind.persistent.name = dlsym(RTLD_NEXT, #prefix "_" #name "_init");
#define FIND_BOTH(...) BOTH_PERSISTENT(FIND, __VA_ARGS__)
    OFFERED_COLLECTIVES(FIND_BOTH)
#undef FIND_BOTH
#undef FIND
    find(&get_library_version, "PMPI_Get_library_version");
}

const char *behind_version(void)
{
    static char version[16384]; /* some libraries' versions are longer than others' headers allow */
    int length;
    return get_library_version(version, &length) == MPI_SUCCESS ? version : "";
}
