/* A front: the way in which an MPI program's calls come in, and in which the MPI library is called. There are
 * the preload (preload/) and the component of Open MPI (component/); each library has one. All else, which
 * decides where a call goes and tells about it, knows a front by this table alone. */
#pragma once

#include <mpi.h>
#include <stdbool.h>

#include "native.h"

struct collective;
struct shim_comm;

struct front {
    const char *name;     /* "preload"; all ranks of a program must have the same */
    const char *start_it; /* in words: how all ranks are started with it */
    const struct native *native;

    /* The environment in which settings are looked for (env.h). Any time; what it returns is the front's. */
    char *const *(*environment)(void);

    /* Whether somebody asked for swagg in this process. Where nobody has, and rank 0 names no switch, nothing
     * is done and nothing said. */
    bool (*is_wanted)(void);

    /* A communicator's state. keep() makes it the communicator's; kept() finds it, NULL where there is none.
     * When the communicator is freed the front calls comm_gone() (comm.h) with it; so does drop(), at once.
     */
    void (*keep)(MPI_Comm comm, struct shim_comm *state);
    struct shim_comm *(*kept)(MPI_Comm comm);
    void (*drop)(MPI_Comm comm);

    /* Non-blocking collectives that the switch does have requests of the front's. make_request() gives the
     * program one, pending, which keeps its comm until the program was told of its end, and the call's types
     * up to end_request(): if the program may free those it puts others into the call. end_request()
     * completes it, with MPI_SUCCESS or an error, from within posted_progress() (posted.h), which the front
     * calls while the MPI library progresses. */
    void *(*make_request)(struct collective *call);
    void (*end_request)(void *made, int error);

    /* While a blocking collective waits, after the MPI library has progressed: goes on with what is posted.
     * NULL: it has done so. */
    void (*progress)(void);

    /* In a call of `function` on comm: the error is the program's to handle. The last thing that is done in
     * the call, whose result it returns; the communicator may be gone when it does. */
    int (*raise)(MPI_Comm comm, int error, const char *function);
};

extern const struct front front;
