/* Persistent collectives: each start makes a non-blocking call, which goes where such a call goes. What the
 * program has is the MPI library's own request, which is never started itself; while the call runs, the
 * call's request stands for it in whatever is asked about requests. */
#pragma once

#include <mpi.h>

/* Requests as the MPI library is to see them, in the place of the program's. */
struct view {
    int n; /* of the program's, if other ones stand for some of them; else 0 */
    MPI_Request *program, *seen, few[16];
};

/* Returns what is to be seen: requests itself where it can be; until persistent_seen(), which brings back to
 * the program what has become of them. */
MPI_Request *persistent_view(struct view *v, int n, MPI_Request *requests);
void persistent_seen(struct view *v);

/* A communicator is being freed. */
void persistent_comm_gone(MPI_Comm comm);
