/* The preload for MPICH and its descendants, which have its binary interface. */
#include <stdlib.h>

#include "behind.h"
#include "library.h"
#include "report.h"
#include "rollcall.h"
#include "session.h"
#include "special.h"

const char special_name[] = "preload for MPICH";
const char special_start_it[] =
    "mpiexec -genv LD_PRELOAD /path/to/libswagg-mpich.so -genv SWAGG_SWITCH ADDRESS";

/* Handles of Open MPI are pointers, for which there is no room in MPICH's: its calls could not be passed on.
 */
void special_prepare(void)
{
    if (!library_is(behind_version())) {
        report(SWAGG_LOG_ERROR,
               "this program's MPI library is not MPICH, and cannot run with libswagg-mpich.so: "
               "for Open MPI there is libswagg-mpi.so");
        exit(EXIT_FAILURE);
    }
    rollcall_publish();
}

bool special_is_left_alone(void)
{
    return false;
}

void special_progress(bool goes_on)
{
    (void)goes_on;
}

/* The error handler is the program's, which may never return. */
int special_raise(MPI_Comm comm, int error, const char *function)
{
    const bool before = session_step_out();
    (void)function; /* MPICH says it itself */
    PMPI_Comm_call_errhandler(comm, error);
    session_step_in(before);
    return error;
}
