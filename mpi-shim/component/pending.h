/* Requests of Open MPI's for non-blocking collectives that the switch does: MPI_Wait and its kin know them
 * as they know any other. */
#pragma once

#include <mpi.h>

/* As struct front has them (front.h). */
void *pending_make(MPI_Comm comm, MPI_Request *request);
void pending_end(void *made, int error);

/* Open MPI's progress comes here no more. */
void pending_exit(void);
