/* A call of a collective that is offered to the switch. */
#pragma once

#include <mpi.h>
#include <stdbool.h>

#include "native.h"

struct collective {
    const struct native *next; /* where it goes unless the switch takes it */
    enum offered offered;      /* which function it is; of the rest it has what its parameters are */
    const void *send;
    void *recv; /* or what it has for both */
    int count;
    MPI_Datatype type; /* MPI_DATATYPE_NULL: it has none */
    MPI_Op op;         /* MPI_OP_NULL: it has none */
    int root;
    int send_count; /* where it may be another than what is received */
    MPI_Datatype send_type;
    const int *counts, *places; /* of each rank's block; NULL: blocks of `count`, one after another */
    MPI_Comm comm;
    MPI_Request *request; /* of a non-blocking one; NULL: it is blocking */
    const void *site;     /* where it returns to */
};

/* In place it is ignored, and may be anything. */
static inline bool collective_has_send_type(const struct collective *c)
{
    return c->send_type && c->send_type != MPI_DATATYPE_NULL && c->send != MPI_IN_PLACE;
}
