#include "handles.h"

#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include "behind.h"
#include "collective.h"
#include "persistent.h"
#include "posted.h"
#include "report.h"
#include "special.h"

struct made {
    MPI_Request request;
    struct collective call;
    int error;
    unsigned holders; /* the MPI library, until the program's request is freed; and whoever ends it */
    struct made *next, **link;
};

atomic_uint handles_watched;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct made *all; /* under the lock, as their comms and holders are */

/* --- what the MPI library asks of them --- */

/* What a status says of one that has failed, up to where the program sees it: the source is the error. The
 * library itself never hears of an error: it would tell the handler of another communicator. */
enum { FAILED_TAG = INT_MIN + 1 };

/* The first that this thread was told of in a call. */
static _Thread_local struct {
    int error; /* MPI_SUCCESS: none */
    MPI_Comm comm;
} failure;

static int query(void *extra, MPI_Status *status)
{
    const struct made *m = extra;
    PMPI_Status_set_elements(status, MPI_BYTE, 0);
    PMPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = MPI_ANY_SOURCE;
    status->MPI_TAG = MPI_ANY_TAG;
    if (m->error == MPI_SUCCESS)
        return MPI_SUCCESS;
    status->MPI_SOURCE = m->error;
    status->MPI_TAG = FAILED_TAG;
    if (failure.error == MPI_SUCCESS) {
        failure.error = m->error;
        pthread_mutex_lock(&lock);
        failure.comm = m->call.comm;
        pthread_mutex_unlock(&lock);
    }
    return MPI_SUCCESS;
}

static void let_go(struct made *m)
{
    pthread_mutex_lock(&lock);
    const bool gone = --m->holders == 0;
    if (gone) {
        *m->link = m->next;
        if (m->next)
            m->next->link = m->link;
        atomic_fetch_sub(&handles_watched, 1);
    }
    pthread_mutex_unlock(&lock);
    if (gone)
        free(m);
}

static int release(void *extra)
{
    let_go(extra);
    return MPI_SUCCESS;
}

/* No collective can be cancelled: its status says that it was not. */
static int cancel(void *extra, int complete)
{
    (void)extra, (void)complete;
    return MPI_SUCCESS;
}

/* --- as a front --- */

static bool can_be_freed(MPI_Datatype type)
{
    int integers, addresses, types, combiner = MPI_COMBINER_NAMED;
    if (type == MPI_DATATYPE_NULL)
        return false;
    PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
    return combiner != MPI_COMBINER_NAMED && combiner != MPI_COMBINER_F90_REAL &&
           combiner != MPI_COMBINER_F90_COMPLEX && combiner != MPI_COMBINER_F90_INTEGER;
}

void handles_keep_types(struct collective *c)
{
    if (!c->send_type || c->send == MPI_IN_PLACE)
        c->send_type = MPI_DATATYPE_NULL; /* it has none */
    if (can_be_freed(c->type))
        PMPI_Type_dup(c->type, &c->type);
    if (can_be_freed(c->send_type))
        PMPI_Type_dup(c->send_type, &c->send_type);
}

void handles_drop_types(struct collective *c)
{
    if (can_be_freed(c->type))
        PMPI_Type_free(&c->type);
    if (can_be_freed(c->send_type))
        PMPI_Type_free(&c->send_type);
}

void *handles_make(struct collective *call)
{
    struct made *m = allocate_or_abort(call->comm, sizeof *m, "a request");
    handles_keep_types(call);
    m->call = *call;
    m->holders = 2;
    if (PMPI_Grequest_start(query, release, cancel, m, &m->request) != MPI_SUCCESS) {
        report(SWAGG_LOG_ERROR, MPI_LIBRARY " has no request for a collective: the program cannot go on");
        PMPI_Abort(call->comm, 1);
    }
    pthread_mutex_lock(&lock);
    m->next = all;
    m->link = &all;
    if (all)
        all->link = &m->next;
    all = m;
    atomic_fetch_add(&handles_watched, 1);
    pthread_mutex_unlock(&lock);
    *call->request = m->request;
    return m;
}

void handles_end(void *made, int error)
{
    struct made *m = made;
    handles_drop_types(&m->call);
    m->error = error;
    PMPI_Grequest_complete(m->request);
    let_go(m);
}

void handles_comm_gone(MPI_Comm comm)
{
    pthread_mutex_lock(&lock);
    for (struct made *m = all; m; m = m->next)
        if (m->call.comm == comm)
            m->call.comm = MPI_COMM_WORLD;
    pthread_mutex_unlock(&lock);
}

/* --- what the program hears --- */

/* Puts the errors where MPI has them. Whether there were any. */
static bool clear(MPI_Status *status)
{
    if (status == MPI_STATUS_IGNORE || status->MPI_TAG != FAILED_TAG)
        return false;
    status->MPI_ERROR = status->MPI_SOURCE;
    status->MPI_SOURCE = MPI_ANY_SOURCE;
    status->MPI_TAG = MPI_ANY_TAG;
    return true;
}

/* After the library's function has returned rc: what the program's is to return. The error handler is told
 * the first error. */
static int tell(const char *function, int rc)
{
    const int error = failure.error;
    const MPI_Comm comm = failure.comm;
    failure.error = MPI_SUCCESS;
    if (error == MPI_SUCCESS)
        return rc;
    special_raise(comm, error, function);
    return rc == MPI_SUCCESS ? error : rc;
}

static int tell_one(const char *function, int rc, bool flag, MPI_Status *status)
{
    if (failure.error != MPI_SUCCESS && flag)
        clear(status);
    return tell(function, rc);
}

static int tell_several(const char *function, int rc, int n, MPI_Status statuses[])
{
    if (failure.error == MPI_SUCCESS)
        return rc;
    for (int i = 0; statuses != MPI_STATUSES_IGNORE && i < n; i++)
        if (!clear(&statuses[i]) && rc == MPI_SUCCESS)
            statuses[i].MPI_ERROR = MPI_SUCCESS;
    tell(function, rc);
    return MPI_ERR_IN_STATUS;
}

/* --- completing: the library's functions that test, again and again if it is to be waited --- */

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
    return tell_one(function, rc, *flag, status);
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
    return tell_one(function, rc, *flag, status);
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
    return tell_several(function, rc, *ended, statuses);
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
    return tell_several(function, rc, n, statuses);
}

static int look(const struct behind *next, MPI_Request request, int *flag, MPI_Status *status)
{
    struct view v;
    const MPI_Request *seen = persistent_view(&v, 1, &request);
    posted_progress();
    const int rc = next->Request_get_status(*seen, flag, status);
    failure.error = MPI_SUCCESS; /* that is told when it is completed */
    if (rc == MPI_SUCCESS && *flag)
        clear(status);
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
