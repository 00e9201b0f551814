/* What a collective moves that has a block for each rank: of an intercommunicator, for each rank of the other
 * group. Counts of 0 for all that MPI refuses: no communicator, or no counts. */
#pragma once

#include <mpi.h>
#include <stddef.h>

/* So many items in each. */
size_t blocks_alike(int count, MPI_Comm comm);

/* counts[r] in that of rank r: in all of them, and in this rank's. */
size_t blocks_total(const int counts[], MPI_Comm comm);
int blocks_own(const int counts[], MPI_Comm comm);

/* The same in bytes, each of a type of its own. */
size_t blocks_bytes(const int counts[], const MPI_Datatype types[], MPI_Comm comm);

/* Of a sum that is scattered, whose blocks are for this rank's own group also in an intercommunicator:
 * counts[r] for rank r of that, or without counts `count` for each. */
size_t blocks_scattered(const int counts[], int count, MPI_Comm comm);

/* Bytes of so many items, without gaps; 0 where there is no type. */
size_t blocks_size(size_t items, MPI_Datatype type);
