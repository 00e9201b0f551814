/* What the switch does of a collective, for each function that is offered to it. */
#pragma once

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

#include "collective.h"
#include "crossover.h"
#include "swagg.h"
#include "types.h"
#include "why.h"

struct shim_comm;

/* A collective as the switch does it. */
struct task {
    struct shim_comm *comm; /* its communicator's state; NULL: it has none */
    struct collective call; /* of elements, if it sums a derived type that is nothing but these (types.h) */
    struct reduction what;  /* of one with an operation */
    size_t items;           /* of the program's type, in all blocks */
    size_t mpi_bytes;       /* of these, as MPI counts them: without gaps in them */
    size_t elements, bytes; /* as the switch has them; by the bytes is chosen where it goes */
    int refused;            /* the error of MPI_Pack or MPI_Unpack, which the program has been told */
    int rank, size;         /* for begin(), in the communicator, which the program may have freed by then */
    char *packed;           /* from begin() to offers_end(), what libswagg has in the place of a buffer of the
                               program's; NULL: nothing */
};

struct offer {
    enum crossing crossing;
    bool is_exchange; /* there only in jobs of which swagg_has_exchanges says so */

    /* Fills in all but t->call, which may change. Whether the switch can do it, and why not: depends only on
     * what is the same on all ranks, on which types of different make may have the same elements. */
    enum why (*describe)(struct task *t);

    /* Whether the MPI library refuses what this rank, of so many, brings to an intracommunicator. */
    bool (*is_wrong)(const struct collective *c, int rank, int size);

    /* In the switch: waits for the end, or with `posted` leaves there a request of libswagg's. Returns an
     * enum swagg_status, which counts unless t->refused is set. */
    int (*begin)(struct task *t, struct swagg_job *job, struct swagg_request **posted);

    /* After an end that was well: puts what has come where it belongs. NULL: it is there. */
    void (*unpack)(struct task *t);
};

extern const struct offer offers[OFFERED_COUNT];

/* After begin(), and once what was posted has ended: frees what it took. */
void offers_end(struct task *t, bool well);

/* Whether the MPI library takes the types that are to be packed: MPI_SUCCESS, or its error, which the
 * communicator's error handler has heard of. */
int offers_check_types(const struct collective *c);

/* Whether this rank receives anything. Not for intercommunicators. */
bool offers_receives(const struct collective *c);

/* Whether it sends and receives in one buffer, which is not said by MPI_IN_PLACE, of a reduction. */
bool offers_has_one_buffer(const struct collective *c);
