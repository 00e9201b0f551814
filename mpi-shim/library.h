/* What is different in the MPI library that a front was built for (library/): one file for each. MPI_LIBRARY
 * is its name, which the build sets. */
#pragma once

#include <mpi.h>
#include <stdbool.h>

#include "native.h"
#include "swagg.h"

/* Whether the library with this version, in its own words, is that one, or has its binary interface. */
bool library_is(const char *version);

/* Whether it takes one buffer to send from and to receive in, which MPI forbids, of so many elements in a
 * function that has an operation. After MPI_Init. */
bool library_takes_one_buffer(enum offered function, int count);

/* Another library's launcher that has started this process together with others, if MPI_COMM_WORLD has one
 * rank: its name, and in *first whether this is the first of them. NULL: it does not look so. */
const char *library_other_launcher(bool *first);

/* Makes an MPI error code for texts of the shim's. Returns MPI's error code. */
int library_add_error(int *code);

/* Whether its own answer for this named type is another than the switch's, or none: such calls are left to
 * it. */
bool library_differs(MPI_Datatype type, enum swagg_op op);
