/* The MPI library's collectives as swagg calls them itself, and as it hands on to them what is not for the
 * switch. None of these calls comes back to swagg. */
#pragma once

#include <mpi.h>

/* COLLECTIVES(X) is an X for each, with its name, the same in small letters, its parameters and its
 * arguments; COUNTED_COLLECTIVES(X) for those that swagg only counts, and behind that which of the arguments
 * are the count (of one rank's part), the type and the operation. */
/* clang-format off */
#define OFFLOADED_COLLECTIVES(X)                                                                             \
    X(Allreduce, allreduce,                                                                                  \
      (const void *send, void *recv, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),                \
      (send, recv, count, type, op, comm))                                                                   \
    X(Reduce, reduce,                                                                                        \
      (const void *send, void *recv, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm),      \
      (send, recv, count, type, op, root, comm))
#define COUNTED_COLLECTIVES(X)                                                                               \
    X(Iallreduce, iallreduce,                                                                                \
      (const void *send, void *recv, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,                 \
       MPI_Request *request),                                                                                \
      (send, recv, count, type, op, comm, request), count, type, op)                                         \
    X(Ireduce, ireduce,                                                                                      \
      (const void *send, void *recv, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm,       \
       MPI_Request *request),                                                                                \
      (send, recv, count, type, op, root, comm, request), count, type, op)                                   \
    X(Reduce_scatter, reduce_scatter,                                                                        \
      (const void *send, void *recv, const int counts[], MPI_Datatype type, MPI_Op op, MPI_Comm comm),       \
      (send, recv, counts, type, op, comm), counts ? counts[0] : 0, type, op)                                \
    X(Reduce_scatter_block, reduce_scatter_block,                                                            \
      (const void *send, void *recv, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),                \
      (send, recv, count, type, op, comm), count, type, op)                                                  \
    X(Bcast, bcast, (void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm),                   \
      (buffer, count, type, root, comm), count, type, MPI_OP_NULL)                                           \
    X(Allgather, allgather,                                                                                  \
      (const void *send, int send_count, MPI_Datatype send_type, void *recv, int count, MPI_Datatype type,   \
       MPI_Comm comm),                                                                                       \
      (send, send_count, send_type, recv, count, type, comm), count, type, MPI_OP_NULL)                      \
    X(Barrier, barrier, (MPI_Comm comm), (comm), 0, MPI_DATATYPE_NULL, MPI_OP_NULL)

#define COLLECTIVES(X) OFFLOADED_COLLECTIVES(X) COUNTED_COLLECTIVES(X)
/* clang-format on */

struct native {
#define FUNCTION_POINTER(name, small, parameters, ...) int(*name) parameters;
    COLLECTIVES(FUNCTION_POINTER)
#undef FUNCTION_POINTER
};
