/* Ranks of Open MPI 4.1 as one sees them by TCP (wire/ob1.h), for tests: senders, and a root that reduces
 * from them as Open MPI's linear MPI_Reduce does. No sockets: bytes in, bytes out. Aborts if there is no
 * memory. */
#pragma once

#include "kernels/kernels.h"
#include "wire/ob1.h"

enum { MPI_RANKS_MAX = 4, MPI_RANKS_CALLS = 64 };

/* Bytes that are on their way, appended at the end. */
struct mpi_bytes {
    uint8_t *at;
    size_t n, room;
};
void mpi_append(struct mpi_bytes *b, const uint8_t *bytes, size_t n);
void mpi_drop(struct mpi_bytes *b, size_t n); /* the first n */

/* A rank that sends the same tensor with each call. */
struct mpi_sender {
    int32_t rank;
    const uint8_t *tensor;
    uint64_t length;
    unsigned calls, done;
    bool spoke, greeted, announced;
    bool chatters; /* it says something else between */
    struct mpi_bytes in, out;
};
/* Does what the bytes that have come ask for. False: they are none that a root sends. */
bool mpi_sender_turn(struct mpi_sender *s);

/* Rank 0, which receives from ranks 1 to senders. */
struct mpi_root {
    unsigned senders, calls, done;
    uint64_t length;
    const uint8_t *own;
    uint8_t *sum, *buffer; /* of length: what MPI_Reduce returns; where it receives */
    agg_fold_fn *fold;
    bool acknowledges; /* it asks for the message in fragments, as for memory that is not contiguous */
    /* Not for callers. */
    unsigned from; /* whose message it waits for; 0: it adds its own */
    bool asked;
    struct {
        bool greeted;
        unsigned announced;
        uint64_t request[MPI_RANKS_CALLS];
        struct mpi_bytes in, out;
    } of[MPI_RANKS_MAX]; /* by rank - 1 */
};
bool mpi_root_turn(struct mpi_root *r);
