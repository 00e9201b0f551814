/* The roll call in MPI_Init: is the shim loaded in every rank, and what are the settings? */
#ifndef SHIM_ROLLCALL_H
#define SHIM_ROLLCALL_H

#include "env.h"

/* Replaces the settings by rank 0's in every rank of MPI_COMM_WORLD. Ranks that lack the shim would never
 * join what the others agree on, so this uses plain messages with a deadline, and ends the MPI job with an
 * error that says what to type. */
void rollcall(struct settings *s, int rank, int size);

#endif
