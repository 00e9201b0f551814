/* The shim's state of a communicator. It is kept as an attribute of the communicator, from the first
 * collective that could be offloaded until the communicator is freed, or MPI_Finalize. */
#ifndef SHIM_COMM_H
#define SHIM_COMM_H

#include <mpi.h>
#include <stddef.h>

#include "team.h"

struct shim_comm {
    MPI_Comm handle;
    struct team *team; /* NULL: Open MPI does it, since the switch takes no such communicator */
    int error;         /* an MPI error code that the shim has made for its texts; 0: not made yet */
    struct shim_comm *next, **link;
};

/* After MPI_Init, collective over MPI_COMM_WORLD. *s must outlive all calls. Returns an MPI error code. */
int comm_init(const struct settings *s);

/* The state of comm, which must be valid; the first call on a communicator is collective over it, and bytes
 * is the size of its first tensor. */
struct shim_comm *comm_state(MPI_Comm comm, size_t bytes);

/* Before MPI_Finalize: closes every team that is left. */
void comm_exit(void);

#endif
