/* Open MPI's own functions behind those that the shim defines. Found once, when the library is loaded. */
#ifndef SHIM_NATIVE_H
#define SHIM_NATIVE_H

#include <mpi.h>

struct native {
    int (*init)(int *argc, char ***argv);
    int (*init_thread)(int *argc, char ***argv, int required, int *provided);
    int (*finalize)(void);
    int (*allreduce)(const void *send, void *recv, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm);
    int (*reduce)(const void *send, void *recv, int count, MPI_Datatype type, MPI_Op op, int root,
                  MPI_Comm comm);
};
extern struct native native;

#endif
