/* Who the ranks of a communicator are. */
#pragma once

#include <mpi.h>

/* Which rank of MPI_COMM_WORLD each rank of comm is; MPI_UNDEFINED: none of it, since it was started later,
 * or separately. Never NULL; the caller's, to be given to free(). */
int *world_ranks(MPI_Comm comm);
