/* The preload for Open MPI. */
#include <dlfcn.h>
#include <pmix.h>
#include <string.h>

#include "behind.h"
#include "board/pmix.h"
#include "posted.h"
#include "rollcall.h"
#include "session.h"
#include "special.h"

const char special_name[] = "preload";
const char special_start_it[] = "mpirun -x LD_PRELOAD=/path/to/libswagg-mpi.so -x SWAGG_SWITCH=ADDRESS";

/* The component is there, too, and does all. */
static bool left_to_component;

EXPORT void swagg_mpi_leave_it_to_the_component(void);

void swagg_mpi_leave_it_to_the_component(void)
{
    left_to_component = true;
}

bool special_is_left_alone(void)
{
    return left_to_component;
}

void special_prepare(void)
{
    /* The roll call begins later, in PMIx_Commit. */
}

static int go_on(void)
{
    return (int)posted_progress();
}

/* Functions of Open MPI's for its own parts. */
void special_progress(bool goes_on)
{
    int (*change)(int (*)(void));
    *(void **)&change = dlsym(RTLD_DEFAULT, goes_on ? "opal_progress_register" : "opal_progress_unregister");
    if (change)
        change(go_on);
}

/* Open MPI calls this once in MPI_Init, when it has published everything that other ranks need, to exchange
 * it. */
EXPORT pmix_status_t PMIx_Commit(void)
{
    pmix_status_t (*commit)(void) = board_pmix_function("PMIx_Commit");
    if (!left_to_component)
        rollcall_publish();
    return commit && commit != PMIx_Commit ? commit() : PMIX_ERR_NOT_SUPPORTED;
}

/* --- errors --- */

/* By which function the error handler is told that the error has come; NULL: as Open MPI says. */
static _Thread_local const char *failing;

int special_raise(MPI_Comm comm, int error, const char *function)
{
    failing = function;
    PMPI_Comm_call_errhandler(comm, error);
    failing = NULL;
    return error;
}

/* What all of Open MPI's functions call an error handler by, the predefined ones, too: the preload stands
 * before it. An error handler is the program's, and it may leave the call that has failed, by longjmp or an
 * exception: then nobody comes back to clear what is set here. */
EXPORT int ompi_errhandler_invoke(void *handler, void *object, int type, int error, const char *message);

int ompi_errhandler_invoke(void *handler, void *object, int type, int error, const char *message)
{
    static int (*_Atomic next)(void *, void *, int, int, const char *);
    const char *function = failing ? failing : message;
    const bool before = session_step_out();
    failing = NULL;
    if (!next)
        next = (int (*)(void *, void *, int, int, const char *))(uintptr_t)dlsym(RTLD_NEXT,
                                                                                 "ompi_errhandler_invoke");
    int rc = next(handler, object, type, error, function);
    session_step_in(before);
    return rc;
}
