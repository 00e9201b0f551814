#include "library_calls.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#define AS_CALLED(name) .name = MPI_##name,
const struct native own_calls = {TIMED_COLLECTIVES(AS_CALLED)};

/* The library is where a function is that nobody takes the place of. */
static void *open_library(void)
{
    Dl_info where;
    void *function = dlsym(RTLD_DEFAULT, "MPI_Get_library_version");
    if (function == NULL || dladdr(function, &where) == 0)
        return NULL;
    return dlopen(where.dli_fname, RTLD_NOW | RTLD_NOLOAD);
}

static void find(void *library, const char *name, void **function)
{
    *function = library ? dlsym(library, name) : NULL;
    if (*function)
        return;
    fprintf(stderr, "mpi-perf: the MPI library's own %s is not found\n", name);
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
}

const struct native *library_calls(void)
{
    static struct native calls;
    void *library = calls.Barrier ? NULL : open_library();
#define FIND(name)                                                                                           \
    if (!calls.name)                                                                                         \
        find(library, "MPI_" #name, (void **)&calls.name);
    TIMED_COLLECTIVES(FIND)
#undef FIND
    return &calls;
}
