/* The MPI library's collectives as swagg calls them itself, and as it hands on to them what is not for the
 * switch. None of these calls comes back to swagg. */
#pragma once

#include <mpi.h>

/* Each collective is declared here, once. A row is its name, the same in small letters, its parameters and
 * its arguments; which of these are the count, the type and the operation of what one rank brings (blocks.h
 * counts); and if it is offered to the switch, which members of a struct collective (collective.h) the
 * parameters are, and the arguments again, of such a one called c.
 *
 * The lists are of blocking functions. R makes a row of a function that there is: AS_IT_IS, or NON_BLOCKING,
 * which has another name and a parameter more. X gets it. */
/* clang-format off */
#define OFFERED(R, X)                                                                                        \
    R(X, Allreduce, allreduce,                                                                               \
      (const void *send, void *recv, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),                \
      (send, recv, count, type, op, comm), count, type, op,                                                  \
      (.send = send, .recv = recv, .count = count, .type = type, .op = op, .comm = comm),                    \
      (c->send, c->recv, c->count, c->type, c->op, c->comm))                                                 \
    R(X, Reduce, reduce,                                                                                     \
      (const void *send, void *recv, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm),      \
      (send, recv, count, type, op, root, comm), count, type, op,                                            \
      (.send = send, .recv = recv, .count = count, .type = type, .op = op, .root = root, .comm = comm),      \
      (c->send, c->recv, c->count, c->type, c->op, c->root, c->comm))                                        \
    R(X, Bcast, bcast, (void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm),                \
      (buffer, count, type, root, comm), count, type, MPI_OP_NULL,                                           \
      (.recv = buffer, .count = count, .type = type, .op = MPI_OP_NULL, .root = root, .comm = comm),         \
      (c->recv, c->count, c->type, c->root, c->comm))                                                        \
    R(X, Allgather, allgather,                                                                               \
      (const void *send, int send_count, MPI_Datatype send_type, void *recv, int count, MPI_Datatype type,   \
       MPI_Comm comm),                                                                                       \
      (send, send_count, send_type, recv, count, type, comm), count, type, MPI_OP_NULL,                      \
      (.send = send, .send_count = send_count, .send_type = send_type, .recv = recv, .count = count,         \
       .type = type, .op = MPI_OP_NULL, .comm = comm),                                                       \
      (c->send, c->send_count, c->send_type, c->recv, c->count, c->type, c->comm))                           \
    R(X, Allgatherv, allgatherv,                                                                             \
      (const void *send, int send_count, MPI_Datatype send_type, void *recv, const int counts[],             \
       const int places[], MPI_Datatype type, MPI_Comm comm),                                                \
      (send, send_count, send_type, recv, counts, places, type, comm),                                       \
      send == MPI_IN_PLACE ? blocks_own(counts, comm) : send_count,                                          \
      send == MPI_IN_PLACE ? type : send_type, MPI_OP_NULL,                                                  \
      (.send = send, .send_count = send_count, .send_type = send_type, .recv = recv, .counts = counts,       \
       .places = places, .type = type, .op = MPI_OP_NULL, .comm = comm),                                     \
      (c->send, c->send_count, c->send_type, c->recv, c->counts, c->places, c->type, c->comm))               \
    R(X, Reduce_scatter, reduce_scatter,                                                                     \
      (const void *send, void *recv, const int counts[], MPI_Datatype type, MPI_Op op, MPI_Comm comm),       \
      (send, recv, counts, type, op, comm), blocks_scattered(counts, 0, comm), type, op,                     \
      (.send = send, .recv = recv, .counts = counts, .type = type, .op = op, .comm = comm),                  \
      (c->send, c->recv, c->counts, c->type, c->op, c->comm))                                                \
    R(X, Reduce_scatter_block, reduce_scatter_block,                                                         \
      (const void *send, void *recv, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),                \
      (send, recv, count, type, op, comm), blocks_scattered(NULL, count, comm), type, op,                    \
      (.send = send, .recv = recv, .count = count, .type = type, .op = op, .comm = comm),                    \
      (c->send, c->recv, c->count, c->type, c->op, c->comm))                                                 \
    R(X, Barrier, barrier, (MPI_Comm comm), (comm), 0, MPI_DATATYPE_NULL, MPI_OP_NULL,                       \
      (.type = MPI_DATATYPE_NULL, .op = MPI_OP_NULL, .comm = comm), (c->comm))

/* What has nothing to gain in the switch, or not there. */
#define OTHERS(R, X)                                                                                         \
    R(X, Gather, gather,                                                                                     \
      (const void *send, int send_count, MPI_Datatype send_type, void *recv, int count, MPI_Datatype type,   \
       int root, MPI_Comm comm),                                                                             \
      (send, send_count, send_type, recv, count, type, root, comm),                                          \
      send == MPI_IN_PLACE ? count : send_count, send == MPI_IN_PLACE ? type : send_type, MPI_OP_NULL)       \
    R(X, Gatherv, gatherv,                                                                                   \
      (const void *send, int send_count, MPI_Datatype send_type, void *recv, const int counts[],             \
       const int places[], MPI_Datatype type, int root, MPI_Comm comm),                                      \
      (send, send_count, send_type, recv, counts, places, type, root, comm),                                 \
      send == MPI_IN_PLACE ? blocks_own(counts, comm) : send_count,                                          \
      send == MPI_IN_PLACE ? type : send_type, MPI_OP_NULL)                                                  \
    R(X, Scatter, scatter,                                                                                   \
      (const void *send, int send_count, MPI_Datatype send_type, void *recv, int count, MPI_Datatype type,   \
       int root, MPI_Comm comm),                                                                             \
      (send, send_count, send_type, recv, count, type, root, comm),                                          \
      recv == MPI_IN_PLACE ? send_count : count, recv == MPI_IN_PLACE ? send_type : type, MPI_OP_NULL)       \
    R(X, Scatterv, scatterv,                                                                                 \
      (const void *send, const int send_counts[], const int send_places[], MPI_Datatype send_type,           \
       void *recv, int count, MPI_Datatype type, int root, MPI_Comm comm),                                   \
      (send, send_counts, send_places, send_type, recv, count, type, root, comm),                            \
      recv == MPI_IN_PLACE ? blocks_own(send_counts, comm) : count,                                          \
      recv == MPI_IN_PLACE ? send_type : type, MPI_OP_NULL)                                                  \
    R(X, Alltoall, alltoall,                                                                                 \
      (const void *send, int send_count, MPI_Datatype send_type, void *recv, int count, MPI_Datatype type,   \
       MPI_Comm comm),                                                                                       \
      (send, send_count, send_type, recv, count, type, comm), blocks_alike(count, comm), type, MPI_OP_NULL)  \
    R(X, Alltoallv, alltoallv,                                                                               \
      (const void *send, const int send_counts[], const int send_places[], MPI_Datatype send_type,           \
       void *recv, const int counts[], const int places[], MPI_Datatype type, MPI_Comm comm),                \
      (send, send_counts, send_places, send_type, recv, counts, places, type, comm),                         \
      blocks_total(send == MPI_IN_PLACE ? counts : send_counts, comm),                                       \
      send == MPI_IN_PLACE ? type : send_type, MPI_OP_NULL)                                                  \
    R(X, Alltoallw, alltoallw,                                                                               \
      (const void *send, const int send_counts[], const int send_places[], const MPI_Datatype send_types[],  \
       void *recv, const int counts[], const int places[], const MPI_Datatype types[], MPI_Comm comm),       \
      (send, send_counts, send_places, send_types, recv, counts, places, types, comm),                       \
      send == MPI_IN_PLACE ? blocks_bytes(counts, types, comm)                                               \
                           : blocks_bytes(send_counts, send_types, comm), MPI_BYTE, MPI_OP_NULL)             \
    R(X, Scan, scan,                                                                                         \
      (const void *send, void *recv, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),                \
      (send, recv, count, type, op, comm), count, type, op)                                                  \
    R(X, Exscan, exscan,                                                                                     \
      (const void *send, void *recv, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),                \
      (send, recv, count, type, op, comm), count, type, op)

#define UNWRAP(...) __VA_ARGS__
#define AS_IT_IS(X, ...) X(__VA_ARGS__)
#define NON_BLOCKING(X, name, small, parameters, arguments, ...)                                             \
    X(I##small, i##small, (UNWRAP parameters, MPI_Request *request), (UNWRAP arguments, request), __VA_ARGS__)

#define OFFERED_COLLECTIVES(X) OFFERED(AS_IT_IS, X)
#define POSTED_COLLECTIVES(X)  OFFERED(NON_BLOCKING, X)
#define COUNTED_COLLECTIVES(X) OTHERS(AS_IT_IS, X) OTHERS(NON_BLOCKING, X)
#define COLLECTIVES(X) OFFERED_COLLECTIVES(X) POSTED_COLLECTIVES(X) COUNTED_COLLECTIVES(X)
/* clang-format on */

struct native {
#define FUNCTION_POINTER(name, small, parameters, ...) int(*name) parameters;
    COLLECTIVES(FUNCTION_POINTER)
#undef FUNCTION_POINTER
};

/* Those that are offered to the switch. */
enum offered {
#define NUMBER(name, ...) OFFERED_##name,
    OFFERED_COLLECTIVES(NUMBER)
#undef NUMBER
        OFFERED_COUNT
};

/* How one is called: its blocking function, or its non-blocking one. */
enum { BLOCKING, POSTED, OFFERED_WAYS };

/* "MPI_Allreduce" and "MPI_Iallreduce", "allreduce" and "iallreduce" */
extern const char *const offered_functions[OFFERED_WAYS][OFFERED_COUNT];
extern const char *const offered_words[OFFERED_WAYS][OFFERED_COUNT];
