/* MPI's collectives as a program calls them, and the MPI library's own, whatever is preloaded. */
#pragma once

#include <mpi.h>

#include "native.h"

#define TIMED_COLLECTIVES(X) X(Allreduce) X(Reduce) X(Bcast) X(Allgather) X(Reduce_scatter) X(Barrier)

/* Only what mpi-perf times is set. */
extern const struct native own_calls;

/* Ends the program where they cannot be found. With Open MPI's component they are the component's. */
const struct native *library_calls(void);
