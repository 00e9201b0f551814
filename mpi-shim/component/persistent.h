/* Persistent collectives, MPIX_*_init of Open MPI 4.1: each start makes a non-blocking call, which goes where
 * such a call goes, and its end is the request's. */
#pragma once

#include <mpi.h>

struct collective;

/* Gives the program a request of the call, inactive. What the call points to is in use until it is freed. */
int persistent_make(const struct collective *c, MPI_Request *request);

/* Open MPI's progress comes here no more. */
void persistent_exit(void);
