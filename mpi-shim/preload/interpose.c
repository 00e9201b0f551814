/* The preload: the MPI functions that it interposes, under both names: C programs call MPI_X, the Fortran
 * bindings (mpif.h, mpi, mpi_f08) end at PMPI_X. Calls that are not for the shim go on to the next function
 * of the same name, which may be a tracer's; calls that are made from there only pass the shim. */
#include <mpi.h>
#include <unistd.h>

#include "behind.h"
#include "blocks.h"
#include "comm.h"
#include "front.h"
#include "handles.h"
#include "library.h"
#include "offload.h"
#include "persistent.h"
#include "posted.h"
#include "report.h"
#include "session.h"
#include "special.h"

/* --- the front: the state of a communicator is its attribute --- */

static int keyval = MPI_KEYVAL_INVALID; /* the attribute of communicators that is their state */

/* Its calls that were posted end before it does: every rank has made them, or will before it comes here. */
static int on_delete(MPI_Comm comm, int key, void *state, void *unused)
{
    (void)key, (void)unused;
    posted_settle(state);
    handles_comm_gone(comm);
    persistent_comm_gone(comm);
    comm_gone(state);
    return MPI_SUCCESS;
}

static void keep(MPI_Comm comm, struct shim_comm *state)
{
    PMPI_Comm_set_attr(comm, keyval, state);
}

static struct shim_comm *kept(MPI_Comm comm)
{
    void *state;
    int found = 0;
    PMPI_Comm_get_attr(comm, keyval, &state, &found);
    return found ? state : NULL;
}

static void drop(MPI_Comm comm)
{
    PMPI_Comm_delete_attr(comm, keyval);
}

static char *const *environment(void)
{
    return environ;
}

static bool is_wanted(void)
{
    return true;
}

static void go_on(void)
{
    posted_progress();
}

const struct front front = {.name = special_name,
                            .start_it = special_start_it,
                            .native = &behind_pmpi.collectives,
                            .environment = environment,
                            .is_wanted = is_wanted,
                            .keep = keep,
                            .kept = kept,
                            .drop = drop,
                            .make_request = handles_make,
                            .end_request = handles_end,
                            .progress = go_on,
                            .raise = special_raise};

/* --- start and end --- */

static void start(void)
{
    int rank, size, threads;
    if (special_is_left_alone())
        return;
    if (!library_is(behind_version())) {
        report(SWAGG_LOG_WARN, "this program's MPI library is not " MPI_LIBRARY
                               ": nothing is offloaded (libswagg-mpi.so is for Open MPI, "
                               "libswagg-mpich.so for MPICH)");
        return;
    }
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &size);
    PMPI_Query_thread(&threads);
    PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_delete, &keyval, NULL);
    session_start(rank, size, threads == MPI_THREAD_MULTIPLE);
    special_progress(true);
}

static int init(const struct behind *next, int *argc, char ***argv)
{
    if (!session_enter())
        return next->init(argc, argv);
    special_prepare();
    int rc = next->init(argc, argv);
    if (rc == MPI_SUCCESS)
        start();
    session_leave();
    return rc;
}

static int init_thread(const struct behind *next, int *argc, char ***argv, int required, int *provided)
{
    if (!session_enter())
        return next->init_thread(argc, argv, required, provided);
    special_prepare();
    int rc = next->init_thread(argc, argv, required, provided);
    if (rc == MPI_SUCCESS)
        start();
    session_leave();
    return rc;
}

static int finalize(const struct behind *next)
{
    if (session_enter()) {
        session_end();
        special_progress(false);
        if (keyval != MPI_KEYVAL_INVALID)
            PMPI_Comm_free_keyval(&keyval);
        session_leave();
    }
    return next->finalize();
}

EXPORT int MPI_Init(int *argc, char ***argv)
{
    return init(&behind_mpi, argc, argv);
}

EXPORT int PMPI_Init(int *argc, char ***argv)
{
    return init(&behind_pmpi, argc, argv);
}

EXPORT int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    return init_thread(&behind_mpi, argc, argv, required, provided);
}

EXPORT int PMPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    return init_thread(&behind_pmpi, argc, argv, required, provided);
}

EXPORT int MPI_Finalize(void)
{
    return finalize(&behind_mpi);
}

EXPORT int PMPI_Finalize(void)
{
    return finalize(&behind_pmpi);
}

#define OFFERED_AS(prefix, behind, name, small, parameters, arguments, count, type, op, described, ...)      \
    EXPORT int prefix##_##name parameters                                                                    \
    {                                                                                                        \
        return session_collective(&(struct collective){.next = &behind.collectives,                          \
                                                       .offered = OFFERED_##name,                            \
                                                       UNWRAP described,                                     \
                                                       .site = __builtin_return_address(0)});                \
    }
#define OFFERED_BOTH(...) BOTH(OFFERED_AS, __VA_ARGS__)

#define POSTED_AS(prefix, behind, name, small, parameters, arguments, count, type, op, described, ...)       \
    EXPORT int prefix##_I##small(UNWRAP parameters, MPI_Request *request)                                    \
    {                                                                                                        \
        return session_collective(&(struct collective){.next = &behind.collectives,                          \
                                                       .offered = OFFERED_##name,                            \
                                                       .request = request,                                   \
                                                       UNWRAP described,                                     \
                                                       .site = __builtin_return_address(0)});                \
    }
#define POSTED_BOTH(...) BOTH(POSTED_AS, __VA_ARGS__)

#define COUNTED(prefix, behind, name, small, parameters, arguments, count, type, op, ...)                    \
    EXPORT int prefix##_##name parameters                                                                    \
    {                                                                                                        \
        if (!session_enter())                                                                                \
            return behind.collectives.name arguments;                                                        \
        struct ledger_visit visit =                                                                          \
            session_count("MPI_" #name, (ptrdiff_t)(count), type, op, __builtin_return_address(0));          \
        int rc = behind.collectives.name arguments;                                                          \
        ledger_leave(visit, 0);                                                                              \
        session_leave();                                                                                     \
        return rc;                                                                                           \
    }
#define COUNTED_BOTH(...) BOTH(COUNTED, __VA_ARGS__)

OFFERED_COLLECTIVES(OFFERED_BOTH)
OFFERED_COLLECTIVES(POSTED_BOTH)
COUNTED_COLLECTIVES(COUNTED_BOTH)
