/* The functions that complete requests, in the place of the library's: its functions that test, again and
 * again if it is to be waited, while what is posted goes on. */
#include <mpi.h>
#include <stdbool.h>

#include "behind.h"
#include "handles.h"
#include "persistent.h"
#include "posted.h"
#include "special.h"

/* After the library's function has returned rc: what the program's is to return. The error handler hears of
 * the first error. */
static int tell(const char *function, int rc, bool several, int n, MPI_Status *statuses)
{
    MPI_Comm comm;
    const int error = handles_failure(&comm);
    if (error == MPI_SUCCESS)
        return rc;
    for (int i = 0; i < n && statuses != MPI_STATUSES_IGNORE; i++)
        if (!handles_clear(&statuses[i]) && several && rc == MPI_SUCCESS)
            statuses[i].MPI_ERROR = MPI_SUCCESS;
    special_raise(comm, error, function);
    if (several)
        return MPI_ERR_IN_STATUS;
    return rc == MPI_SUCCESS ? error : rc;
}

/* Whether to test once more. At first at once, as the library waits itself; then now and then, and when
 * something has ended that was posted: others may want the CPU. */
static bool goes_on(bool waits, unsigned *turns)
{
    enum { AT_ONCE = 1000 };
    if (waits && ++*turns > AT_ONCE)
        posted_doze();
    return waits;
}

static int one(const struct behind *next, bool waits, const char *function, MPI_Request *request, int *flag,
               MPI_Status *status)
{
    struct view v;
    MPI_Request *seen = persistent_view(&v, 1, request);
    unsigned turns = 0;
    int rc;
    do {
        posted_progress();
        rc = next->Test(seen, flag, status);
    } while (rc == MPI_SUCCESS && !*flag && goes_on(waits, &turns));
    persistent_seen(&v);
    return tell(function, rc, false, 1, status);
}

static int any(const struct behind *next, bool waits, const char *function, int n, MPI_Request requests[],
               int *index, int *flag, MPI_Status *status)
{
    struct view v;
    MPI_Request *seen = persistent_view(&v, n, requests);
    unsigned turns = 0;
    int rc;
    do {
        posted_progress();
        rc = next->Testany(n, seen, index, flag, status);
    } while (rc == MPI_SUCCESS && !*flag && goes_on(waits, &turns));
    persistent_seen(&v);
    return tell(function, rc, false, 1, status);
}

static int some(const struct behind *next, bool waits, const char *function, int n, MPI_Request requests[],
                int *ended, int indices[], MPI_Status statuses[])
{
    struct view v;
    MPI_Request *seen = persistent_view(&v, n, requests);
    unsigned turns = 0;
    int rc;
    do {
        posted_progress();
        rc = next->Testsome(n, seen, ended, indices, statuses);
    } while (rc == MPI_SUCCESS && *ended == 0 && goes_on(waits, &turns));
    persistent_seen(&v);
    return tell(function, rc, true, ended ? *ended : 0, statuses);
}

static int every(const struct behind *next, bool waits, const char *function, int n, MPI_Request requests[],
                 int *flag, MPI_Status statuses[])
{
    struct view v;
    MPI_Request *seen = persistent_view(&v, n, requests);
    unsigned turns = 0;
    int rc;
    do {
        posted_progress();
        rc = next->Testall(n, seen, flag, statuses);
    } while (rc == MPI_SUCCESS && !*flag && goes_on(waits, &turns));
    persistent_seen(&v);
    return tell(function, rc, true, n, statuses);
}

static int look(const struct behind *next, MPI_Request request, int *flag, MPI_Status *status)
{
    struct view v;
    MPI_Comm comm;
    const MPI_Request *seen = persistent_view(&v, 1, &request);
    posted_progress();
    const int rc = next->Request_get_status(*seen, flag, status);
    if (handles_failure(&comm) != MPI_SUCCESS && status != MPI_STATUS_IGNORE)
        handles_clear(status); /* the error is told when it is completed */
    persistent_seen(&v);
    return rc;
}

/* clang-format off */
#define PASS_ON(behind, name, arguments, instead)                                                            \
    { return atomic_load(&handles_watched) == 0 ? behind.name arguments : (instead); }

#define COMPLETING(prefix, behind, ...)                                                                      \
    EXPORT int prefix##_Wait(MPI_Request *request, MPI_Status *status)                                       \
    {                                                                                                        \
        int flag = 0;                                                                                        \
        PASS_ON(behind, Wait, (request, status), one(&behind, true, "MPI_Wait", request, &flag, status))     \
    }                                                                                                        \
    EXPORT int prefix##_Test(MPI_Request *request, int *flag, MPI_Status *status)                            \
    PASS_ON(behind, Test, (request, flag, status), one(&behind, false, "MPI_Test", request, flag, status))   \
    EXPORT int prefix##_Waitany(int n, MPI_Request requests[], int *index, MPI_Status *status)               \
    {                                                                                                        \
        int flag = 0;                                                                                        \
        PASS_ON(behind, Waitany, (n, requests, index, status),                                               \
                any(&behind, true, "MPI_Waitany", n, requests, index, &flag, status))                        \
    }                                                                                                        \
    EXPORT int prefix##_Testany(int n, MPI_Request requests[], int *index, int *flag, MPI_Status *status)    \
    PASS_ON(behind, Testany, (n, requests, index, flag, status),                                             \
            any(&behind, false, "MPI_Testany", n, requests, index, flag, status))                            \
    EXPORT int prefix##_Waitsome(int n, MPI_Request requests[], int *ended, int indices[],                   \
                                 MPI_Status statuses[])                                                      \
    PASS_ON(behind, Waitsome, (n, requests, ended, indices, statuses),                                       \
            some(&behind, true, "MPI_Waitsome", n, requests, ended, indices, statuses))                      \
    EXPORT int prefix##_Testsome(int n, MPI_Request requests[], int *ended, int indices[],                   \
                                 MPI_Status statuses[])                                                      \
    PASS_ON(behind, Testsome, (n, requests, ended, indices, statuses),                                       \
            some(&behind, false, "MPI_Testsome", n, requests, ended, indices, statuses))                     \
    EXPORT int prefix##_Waitall(int n, MPI_Request requests[], MPI_Status statuses[])                        \
    {                                                                                                        \
        int flag = 0;                                                                                        \
        PASS_ON(behind, Waitall, (n, requests, statuses),                                                    \
                every(&behind, true, "MPI_Waitall", n, requests, &flag, statuses))                           \
    }                                                                                                        \
    EXPORT int prefix##_Testall(int n, MPI_Request requests[], int *flag, MPI_Status statuses[])             \
    PASS_ON(behind, Testall, (n, requests, flag, statuses),                                                  \
            every(&behind, false, "MPI_Testall", n, requests, flag, statuses))                               \
    EXPORT int prefix##_Request_get_status(MPI_Request request, int *flag, MPI_Status *status)               \
    PASS_ON(behind, Request_get_status, (request, flag, status), look(&behind, request, flag, status))
/* clang-format on */

BOTH(COMPLETING, )
