/* Requests of the program's that the MPI library knows nothing more of than that they are there: generalized
 * ones (MPI_Grequest_start), which lie in one array with any others. Here they are made and ended, and the
 * functions that complete requests stand in the place of the library's: they go on with what is posted, and
 * tell its errors. */
#pragma once

#include <mpi.h>
#include <stdatomic.h>

struct collective;

/* As many requests as there are that these functions must look for; none: they only pass on. */
extern atomic_uint handles_watched;

/* As struct front has them (front.h). */
void *handles_make(struct collective *call);
void handles_end(void *made, int error);

/* Types that the program may free while a call of it needs them: the call gets duplicates, which are the same
 * to the switch, until it drops them. */
void handles_keep_types(struct collective *c);
void handles_drop_types(struct collective *c);

/* A communicator is being freed, whose calls have ended: errors that were not told yet go elsewhere. */
void handles_comm_gone(MPI_Comm comm);
