/* A communicator in words: its name and how many ranks it has. */
#ifndef SHIM_PLACE_H
#define SHIM_PLACE_H

#include <mpi.h>
#include <stdint.h>

enum { PLACE_MAX = MPI_MAX_OBJECT_NAME + 32 };

struct place {
    char text[PLACE_MAX]; /* "MPI_COMM_WORLD of 4 ranks" */
    uint64_t hash;        /* of the text, not 0 */
};

void place_of(MPI_Comm comm, struct place *place);

#endif
