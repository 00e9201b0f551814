/* What a program reduces, in the switch's terms. */
#pragma once

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

#include "swagg.h"
#include "why.h"

struct reduction {
    enum swagg_type type;
    enum swagg_op op;
    size_t element_bytes; /* in memory */
    MPI_Datatype named;   /* MPI's name for an element ... */
    size_t per_item;      /* ... and how many of those are one item of the program's type */
};

/* How the switch reduces this type with this operation; why not, if it does not. A derived type counts as
 * elements of a named one if it is nothing else in memory (contiguous.h). *r->named is that type even where
 * the switch has it not; MPI_DATATYPE_NULL where there is none, or the operation is the program's own. Any
 * thread. */
enum why types_reduction(MPI_Datatype type, MPI_Op op, struct reduction *r);

/* Whether items of this type are bytes one after another: copied as they lie they are what MPI_Pack makes of
 * them. Any thread. */
bool types_are_bytes(MPI_Datatype type);

/* For messages: "MPI_SUM", ..., "a user's operation". */
const char *op_name(MPI_Op op);

/* libswagg's in MPI's words: names that C programs use, but for pairs of Fortran's. */
const char *op_in_mpi(enum swagg_op op);
const char *type_in_mpi(enum swagg_type type, enum swagg_op op);
