/* Requests of Open MPI's for non-blocking collectives that the switch does: MPI_Wait and its kin know them
 * as they know any other. */
#pragma once

#include <mpi.h>
#include <stdbool.h>

struct collective;

/* One of a collective on comm, which it keeps; inactive. NULL: no memory. */
MPI_Request pending_new(MPI_Comm comm, bool persistent);

/* How it is freed: by MPI_Wait and its kin, when they have told its end; if that is an error, after the
 * communicator's error handler was called. */
int pending_free(MPI_Request *request);

/* As struct front has them (front.h). */
void *pending_make(struct collective *call);
void pending_end(void *made, int error);

/* Open MPI's progress comes here no more. */
void pending_exit(void);
