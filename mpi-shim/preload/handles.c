#include "handles.h"

#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include "collective.h"
#include "report.h"

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

/* What a status says of one that has failed, up to handles_clear(): the source is the error. */
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
    if (!collective_has_send_type(c))
        c->send_type = MPI_DATATYPE_NULL;
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

bool handles_clear(MPI_Status *status)
{
    if (status->MPI_TAG != FAILED_TAG)
        return false;
    status->MPI_ERROR = status->MPI_SOURCE;
    status->MPI_SOURCE = MPI_ANY_SOURCE;
    status->MPI_TAG = MPI_ANY_TAG;
    return true;
}

int handles_failure(MPI_Comm *comm)
{
    const int error = failure.error;
    *comm = failure.comm;
    failure.error = MPI_SUCCESS;
    return error;
}
