/* The functions that the shim's own hide. Found once, when the library is loaded. */
#pragma once

#include <mpi.h>
#include <stdbool.h>

/* Collectives that the shim only counts. COUNTED_COLLECTIVES(X) is an X for each, with its name, its
 * parameters, its arguments, and which of these are the count (of one rank's part), the type and the
 * operation. */
/* clang-format off */
#define COUNTED_COLLECTIVES(X)                                                                               \
    X(Iallreduce,                                                                                            \
      (const void *send, void *recv, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,                 \
       MPI_Request *request),                                                                                \
      (send, recv, count, type, op, comm, request), count, type, op)                                         \
    X(Ireduce,                                                                                               \
      (const void *send, void *recv, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm,       \
       MPI_Request *request),                                                                                \
      (send, recv, count, type, op, root, comm, request), count, type, op)                                   \
    X(Reduce_scatter,                                                                                        \
      (const void *send, void *recv, const int counts[], MPI_Datatype type, MPI_Op op, MPI_Comm comm),       \
      (send, recv, counts, type, op, comm), counts ? counts[0] : 0, type, op)                                \
    X(Reduce_scatter_block,                                                                                  \
      (const void *send, void *recv, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),                \
      (send, recv, count, type, op, comm), count, type, op)                                                  \
    X(Bcast, (void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm),                          \
      (buffer, count, type, root, comm), count, type, MPI_OP_NULL)                                           \
    X(Allgather,                                                                                             \
      (const void *send, int send_count, MPI_Datatype send_type, void *recv, int count, MPI_Datatype type,   \
       MPI_Comm comm),                                                                                       \
      (send, send_count, send_type, recv, count, type, comm), count, type, MPI_OP_NULL)                      \
    X(Barrier, (MPI_Comm comm), (comm), 0, MPI_DATATYPE_NULL, MPI_OP_NULL)
/* clang-format on */

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
