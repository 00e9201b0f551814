#include "native.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

struct native native;

/* POSIX lets dlsym's pointer become a function's; C needs the detour. */
static void find(void *function, const char *name)
{
    void *symbol = dlsym(RTLD_NEXT, name);
    if (!symbol) {
        fprintf(stderr, "swagg: no %s behind the shim: %s\n", name, dlerror());
        abort();
    }
    *(void **)function = symbol;
}

/* The PMPI_ names: Fortran's wrappers and C's weak MPI_ symbols all end there. */
__attribute__((constructor)) static void find_all(void)
{
    find(&native.init, "PMPI_Init");
    find(&native.init_thread, "PMPI_Init_thread");
    find(&native.finalize, "PMPI_Finalize");
    find(&native.allreduce, "PMPI_Allreduce");
    find(&native.reduce, "PMPI_Reduce");
}
