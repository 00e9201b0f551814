/* Requests of the program's that the MPI library knows nothing more of than that they are there: generalized
 * ones (MPI_Grequest_start), which lie in one array with any others. The library is never told that one has
 * failed: it would tell the handler of another communicator. Whoever has asked it takes the error from here.
 */
#pragma once

#include <mpi.h>
#include <stdatomic.h>
#include <stdbool.h>

struct collective;

/* As many requests as there are that whoever completes requests must look for. */
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

/* After the library's function: the first error that it would have told this thread of, once, and on which
 * communicator; MPI_SUCCESS: none. */
int handles_failure(MPI_Comm *comm);

/* Puts the error of one that has failed where MPI has it. Whether it was one. */
bool handles_clear(MPI_Status *status);
