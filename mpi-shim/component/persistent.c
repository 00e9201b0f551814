#include "persistent.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include "collective.h"
#include "pending.h"
#include "session.h"

#include "ompi/request/request.h"
#include "opal/runtime/opal_progress.h"

struct persistent {
    struct collective call;
    ompi_request_t *made; /* the program's */
    MPI_Request running;  /* the call that was started; MPI_REQUEST_NULL: there is none */
    struct persistent *next, *ended;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct persistent *all; /* that are not freed; under the lock */
static atomic_uint running;    /* as many of them are */
static atomic_bool registered;

/* Where the one with this request hangs; with the lock. */
static struct persistent **find(const ompi_request_t *made)
{
    struct persistent **at = &all;
    while ((*at)->made != made)
        at = &(*at)->next;
    return at;
}

/* The program may free its types and operation before the request; Open MPI 4.1 keeps those of requests that
 * are in progress only. */
static void retain(const struct collective *c)
{
    OBJ_RETAIN(c->type);
    OBJ_RETAIN(c->op);
    if (collective_has_send_type(c))
        OBJ_RETAIN(c->send_type);
}

static void release(struct collective *c)
{
    OBJ_RELEASE(c->type);
    OBJ_RELEASE(c->op);
    if (collective_has_send_type(c))
        OBJ_RELEASE(c->send_type);
}

/* One that is active is not freed. */
static int free_persistent(ompi_request_t **request)
{
    ompi_request_t *made = *request;
    if (made->req_state == OMPI_REQUEST_ACTIVE)
        return MPI_ERR_REQUEST;
    pthread_mutex_lock(&lock);
    struct persistent **at = find(made), *p = *at;
    *at = p->next;
    pthread_mutex_unlock(&lock);
    release(&p->call);
    free(p);
    return pending_free(request);
}

static int start_one(ompi_request_t *made)
{
    pthread_mutex_lock(&lock);
    struct persistent *p = *find(made);
    pthread_mutex_unlock(&lock);
    MPI_Request call = MPI_REQUEST_NULL;
    p->call.request = &call;
    made->req_complete = REQUEST_PENDING;
    made->req_state = OMPI_REQUEST_ACTIVE;
    made->req_status = ompi_status_empty;
    const int rc = session_collective(&p->call);
    if (rc != MPI_SUCCESS) {
        made->req_complete = REQUEST_COMPLETED;
        made->req_state = OMPI_REQUEST_INACTIVE;
        return rc;
    }
    atomic_fetch_add(&running, 1);
    pthread_mutex_lock(&lock);
    p->running = call;
    pthread_mutex_unlock(&lock);
    return MPI_SUCCESS;
}

static int start(size_t count, ompi_request_t **requests)
{
    int rc = MPI_SUCCESS;
    for (size_t i = 0; i < count && rc == MPI_SUCCESS; i++)
        rc = start_one(requests[i]);
    return rc;
}

/* With the lock: those whose calls have ended, whose requests have their errors. */
static struct persistent *take_ended(void)
{
    struct persistent *ended = NULL;
    for (struct persistent *p = all; p; p = p->next) {
        if (p->running == MPI_REQUEST_NULL || !REQUEST_COMPLETE(p->running))
            continue;
        p->made->req_status.MPI_ERROR = p->running->req_status.MPI_ERROR;
        ompi_request_free(&p->running);
        p->running = MPI_REQUEST_NULL;
        p->ended = ended;
        ended = p;
    }
    return ended;
}

/* From within Open MPI's progress. */
static int progress(void)
{
    int n = 0;
    if (atomic_load(&running) == 0 || pthread_mutex_trylock(&lock) != 0)
        return 0;
    struct persistent *ended = take_ended();
    pthread_mutex_unlock(&lock);
    for (; ended; n++) {
        struct persistent *next = ended->ended;
        atomic_fetch_sub(&running, 1);
        ompi_request_complete(ended->made, true); /* whoever hears of it may free it */
        ended = next;
    }
    return n;
}

int persistent_make(const struct collective *c, MPI_Request *request)
{
    struct persistent *p = malloc(sizeof *p);
    ompi_request_t *made = p ? pending_new(c->comm, true) : NULL;
    if (!made) {
        free(p);
        return MPI_ERR_NO_MEM;
    }
    *p = (struct persistent){.call = *c, .made = made, .running = MPI_REQUEST_NULL};
    retain(c);
    made->req_start = start;
    made->req_free = free_persistent;
    if (!atomic_exchange(&registered, true))
        opal_progress_register(progress);
    pthread_mutex_lock(&lock);
    p->next = all;
    all = p;
    pthread_mutex_unlock(&lock);
    *request = made;
    return MPI_SUCCESS;
}

void persistent_exit(void)
{
    if (atomic_exchange(&registered, false))
        opal_progress_unregister(progress);
}
