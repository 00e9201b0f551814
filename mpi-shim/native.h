/* The functions that the shim's own hide. Found once, when the library is loaded. */
#ifndef SHIM_NATIVE_H
#define SHIM_NATIVE_H

#include <mpi.h>
#include <stdbool.h>

#include "counted.h"

struct native {
    int (*init)(int *argc, char ***argv);
    int (*init_thread)(int *argc, char ***argv, int required, int *provided);
    int (*finalize)(void);
    int (*allreduce)(const void *send, void *recv, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm);
    int (*reduce)(const void *send, void *recv, int count, MPI_Datatype type, MPI_Op op, int root,
                  MPI_Comm comm);
#define FUNCTION_POINTER(name, parameters, ...) int(*name) parameters;
    COUNTED_COLLECTIVES(FUNCTION_POINTER)
#undef FUNCTION_POINTER
};

extern struct native native_mpi;  /* behind MPI_X: a tracer's, if one is loaded after the shim */
extern struct native native_pmpi; /* behind PMPI_X: the MPI library's own */

/* What all of Open MPI's functions call an error handler by, the predefined ones, too; NULL where there is
 * none. */
extern int (*native_invoke_handler)(void *handler, void *object, int type, int error, const char *message);

/* Whether the program's MPI library is Open MPI: the shim brings that in, but a program may come with another
 * whose functions are found first. */
bool native_is_open_mpi(void);

/* Whether Open MPI checks arguments: MCA parameter mpi_param_check. After MPI_Init. */
bool native_checks_arguments(void);

#endif
