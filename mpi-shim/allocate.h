/* Memory for what ranks must all have. */
#ifndef SHIM_ALLOCATE_H
#define SHIM_ALLOCATE_H

#include <mpi.h>
#include <stddef.h>

/* Zeroed bytes; never NULL. Without them this rank could not take part in what the other ranks of comm are
 * about to agree on, so the program ends with a message that says what they were for. The caller's, to be
 * given to free(). */
void *allocate_or_abort(MPI_Comm comm, size_t bytes, const char *what);

#endif
