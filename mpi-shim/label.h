/* A communicator in words: its name and how many ranks it has. */
#ifndef SHIM_LABEL_H
#define SHIM_LABEL_H

#include <mpi.h>
#include <stdint.h>

enum { COMM_LABEL_MAX = MPI_MAX_OBJECT_NAME + 32 };

struct comm_label {
    char text[COMM_LABEL_MAX]; /* "MPI_COMM_WORLD of 4 ranks" */
    uint64_t hash;             /* of the text, not 0 */
};

void comm_label_of(MPI_Comm comm, struct comm_label *label);

#endif
