#include "persistent.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include "behind.h"
#include "collective.h"
#include "handles.h"
#include "report.h"
#include "session.h"
#include "special.h"
#include "types.h"

struct persistent {
    struct collective call;
    MPI_Request made;    /* the program's */
    MPI_Request running; /* the call that was started; MPI_REQUEST_NULL: there is none */
    struct persistent *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct persistent *all; /* that are not freed; under the lock, as those that run are */
static atomic_uint kept;       /* as many are in it */

/* Where the one with this request hangs, or would; with the lock. */
static struct persistent **find(MPI_Request made)
{
    struct persistent **at = &all;
    while (*at && (*at)->made != made)
        at = &(*at)->next;
    return at;
}

static struct persistent *look_up(MPI_Request made)
{
    if (atomic_load(&kept) == 0)
        return NULL;
    pthread_mutex_lock(&lock);
    struct persistent *p = *find(made);
    pthread_mutex_unlock(&lock);
    return p;
}

/* --- making and freeing --- */

/* What is the library's for sure, whatever the rank, remains so: there the program's operation is, which it
 * may free, too. */
static bool is_offered(const struct collective *c)
{
    struct reduction r;
    return offload_is_on() && (c->op == MPI_OP_NULL || types_reduction(MPI_INT, c->op, &r) != WHY_OPERATION);
}

static void keep(const struct collective *c, MPI_Request made)
{
    struct persistent *p = allocate_or_abort(c->comm, sizeof *p, "a persistent collective");
    *p = (struct persistent){.call = *c, .made = made, .running = MPI_REQUEST_NULL};
    pthread_mutex_lock(&lock);
    p->next = all;
    all = p;
    pthread_mutex_unlock(&lock);
    atomic_fetch_add(&kept, 1);
    atomic_fetch_add(&handles_watched, 1);
}

static int free_one(const struct behind *next, MPI_Request *request)
{
    struct persistent *p = request ? look_up(*request) : NULL;
    if (!p)
        return next->Request_free(request);
    if (p->running != MPI_REQUEST_NULL) /* of a collective that is active, MPI forbids it */
        return special_raise(MPI_COMM_WORLD, MPI_ERR_REQUEST, "MPI_Request_free");
    pthread_mutex_lock(&lock);
    *find(*request) = p->next;
    pthread_mutex_unlock(&lock);
    atomic_fetch_sub(&kept, 1);
    atomic_fetch_sub(&handles_watched, 1);
    const int rc = next->Request_free(request);
    handles_drop_types(&p->call);
    free(p);
    return rc;
}

void persistent_comm_gone(MPI_Comm comm)
{
    pthread_mutex_lock(&lock);
    for (struct persistent *p = all; p; p = p->next)
        if (p->call.comm == comm)
            p->call.comm = MPI_COMM_NULL;
    pthread_mutex_unlock(&lock);
}

/* --- starting --- */

static int start(const struct behind *next, MPI_Request *request)
{
    struct persistent *p = request ? look_up(*request) : NULL;
    MPI_Request call = MPI_REQUEST_NULL;
    if (!p)
        return next->Start(request);
    if (p->running != MPI_REQUEST_NULL)
        return special_raise(MPI_COMM_WORLD, MPI_ERR_REQUEST, "MPI_Start");
    p->call.request = &call;
    const int rc = session_collective(&p->call);
    if (call == MPI_REQUEST_NULL)
        return rc;
    pthread_mutex_lock(&lock);
    p->running = call;
    pthread_mutex_unlock(&lock);
    return rc;
}

static int start_all(const struct behind *next, int n, MPI_Request requests[])
{
    int rc = MPI_SUCCESS;
    if (atomic_load(&kept) == 0)
        return next->Startall(n, requests);
    for (int i = 0; i < n && rc == MPI_SUCCESS; i++)
        rc = start(next, &requests[i]);
    return rc;
}

/* --- what stands for them --- */

static bool any_is_kept(int n, const MPI_Request *requests)
{
    for (int i = 0; i < n; i++)
        if (look_up(requests[i]))
            return true;
    return false;
}

/* Of one that is not active MPI says the same as of none. */
MPI_Request *persistent_view(struct view *v, int n, MPI_Request *requests)
{
    *v = (struct view){.program = requests, .seen = v->few};
    if (!requests || atomic_load(&kept) == 0 || !any_is_kept(n, requests))
        return requests;
    v->n = n;
    if (n > (int)(sizeof v->few / sizeof v->few[0]))
        v->seen = allocate_or_abort(MPI_COMM_WORLD, (size_t)n * sizeof *v->seen, "an array of requests");
    for (int i = 0; i < n; i++) {
        const struct persistent *p = look_up(requests[i]);
        v->seen[i] = p ? p->running : requests[i];
    }
    return v->seen;
}

/* A call that has ended leaves its request inactive; the program keeps it. */
static void bring_back(MPI_Request *program, MPI_Request seen)
{
    pthread_mutex_lock(&lock);
    struct persistent *p = *find(*program);
    if (p)
        p->running = seen;
    else
        *program = seen;
    pthread_mutex_unlock(&lock);
}

void persistent_seen(struct view *v)
{
    for (int i = 0; i < v->n; i++)
        bring_back(&v->program[i], v->seen[i]);
    if (v->seen != v->few)
        free(v->seen);
}

#define STARTING(prefix, behind, ...)                                                                        \
    EXPORT int prefix##_Start(MPI_Request *request)                                                          \
    {                                                                                                        \
        return start(&behind, request);                                                                      \
    }                                                                                                        \
    EXPORT int prefix##_Startall(int n, MPI_Request requests[])                                              \
    {                                                                                                        \
        return start_all(&behind, n, requests);                                                              \
    }                                                                                                        \
    EXPORT int prefix##_Request_free(MPI_Request *request)                                                   \
    {                                                                                                        \
        return free_one(&behind, request);                                                                   \
    }
BOTH(STARTING, )

/* The library makes its request of the types that are kept, which outlive it. Some libraries' headers do not
 * declare these functions. */
#define MAKING(prefix, behind, name, small, parameters, arguments, count, type, op, described, recalled)     \
    static int behind##_##small(struct collective *c, MPI_Info info, MPI_Request *request)                   \
    {                                                                                                        \
        handles_keep_types(c);                                                                               \
        const int rc = behind.persistent.name(UNWRAP recalled, info, request);                               \
        if (rc == MPI_SUCCESS)                                                                               \
            keep(c, *request);                                                                               \
        else                                                                                                 \
            handles_drop_types(c);                                                                           \
        return rc;                                                                                           \
    }                                                                                                        \
    EXPORT int prefix##_##name##_init(UNWRAP parameters, MPI_Info info, MPI_Request *request);               \
    int prefix##_##name##_init(UNWRAP parameters, MPI_Info info, MPI_Request *request)                       \
    {                                                                                                        \
        struct collective c = {.next = &behind.collectives,                                                  \
                               .offered = OFFERED_##name,                                                    \
                               UNWRAP described,                                                             \
                               .site = __builtin_return_address(0)};                                         \
        if (!behind.persistent.name)                                                                         \
            return MPI_ERR_UNSUPPORTED_OPERATION;                                                            \
        return is_offered(&c) ? behind##_##small(&c, info, request)                                          \
                              : behind.persistent.name(UNWRAP arguments, info, request);                     \
    }
#define MAKING_BOTH(...) BOTH_PERSISTENT(MAKING, __VA_ARGS__)
OFFERED_COLLECTIVES(MAKING_BOTH)
