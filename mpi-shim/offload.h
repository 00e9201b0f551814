/* One collective: to the switch or to Open MPI. */
#ifndef SHIM_OFFLOAD_H
#define SHIM_OFFLOAD_H

#include <mpi.h>
#include <stdbool.h>

#include "env.h"

struct collective {
    bool reduce; /* MPI_Reduce; else MPI_Allreduce */
    const void *send;
    void *recv;
    int count;
    MPI_Datatype type;
    MPI_Op op;
    int root; /* of a reduce */
    MPI_Comm comm;
};

/* Before that, every collective goes to Open MPI. Called once, with what all ranks agreed on. */
void offload_init(const struct settings *s);
void offload_exit(void);

/* Returns what MPI_Allreduce and MPI_Reduce return. */
int offload_run(const struct collective *c);

#endif
