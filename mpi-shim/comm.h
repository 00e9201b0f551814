/* A communicator's job in the switch. Decided once per communicator by all its ranks together, at its first
 * collective that could be offloaded; kept as an attribute of the communicator; closed when that is freed, or
 * in MPI_Finalize. */
#ifndef SHIM_COMM_H
#define SHIM_COMM_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

#include "env.h"
#include "summary.h"
#include "swagg.h"

struct shim_comm {
    MPI_Comm handle;
    struct swagg_job *job; /* NULL: stays with Open MPI, for the reason that follows */
    enum why why;
    _Atomic bool joined; /* until then, what libswagg says is told once, by the shim */
    int broken;          /* an MPI error code: a collective failed, no other can follow */
    void *saved;         /* input of an in-place collective that may have to be done again */
    size_t saved_size;
    struct shim_comm *next, **link;
};

/* After MPI_Init. *s must outlive all calls. Returns an MPI error code. */
int comm_init(const struct settings *s);

/* The state of comm, which must be valid; the first call on a communicator is collective over it. */
struct shim_comm *comm_state(MPI_Comm comm);

/* Its name for messages. */
const char *comm_name(MPI_Comm comm, char name[MPI_MAX_OBJECT_NAME]);

/* Closes the job: from now on this communicator stays with Open MPI. */
void comm_go_native(struct shim_comm *c);

/* Before MPI_Finalize: closes every job that is left. */
void comm_exit(void);

#endif
