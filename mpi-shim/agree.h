/* Agreement on an outcome, over the MPI library's own transport. */
#pragma once

#include <mpi.h>

struct outcome {
    int status; /* enum swagg_status */
    int rank;   /* whose text it is; set by agree() */
    char text[512];
};

/* Collective over comm. Every rank gets the same outcome: SWAGG_OK if all ranks have that; else the error
 * that says most about the cause (a rank that was refused knows more than those that waited for it), from the
 * lowest rank that has it. */
void agree(MPI_Comm comm, struct outcome *o);
