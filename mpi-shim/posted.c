#include "posted.h"

#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attempt.h"
#include "comm.h"
#include "front.h"
#include "offers.h"
#include "report.h"
#include "tell.h"

struct posted {
    struct task task;
    struct team *team;
    void *made; /* the program's request */
    bool left;  /* it is libswagg's */
    struct swagg_request *request;
    int status;
    char text[512]; /* of an error */
    uint64_t waited_ns;
    struct ledger_visit visit;
    struct posted *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct posted *first, **last = &first; /* in the order in which they were made; under the lock */
static atomic_uint pending;                   /* as many are in it */

static void note_status(struct posted *p, int status)
{
    p->status = status;
    if (status < 0)
        snprintf(p->text, sizeof p->text, "%s: %s", swagg_strerror(status), swagg_last_error());
}

/* libswagg takes only so many. */
static void leave(struct posted *p)
{
    if (p->team->flying == SWAGG_REQUESTS_MAX)
        return;
    const int rc = attempt_begin(&p->task, p->team->job, &p->request);
    note_status(p, rc == SWAGG_OK ? SWAGG_IN_PROGRESS : rc);
    p->left = true;
    p->team->flying++;
}

static void look_at(struct posted *p)
{
    if (!p->left)
        leave(p);
    if (p->left && p->status == SWAGG_IN_PROGRESS)
        note_status(p, swagg_test(&p->request));
    if (p->left && p->status != SWAGG_IN_PROGRESS) {
        p->team->flying--;
        p->waited_ns = team_waited(p->team);
    }
}

/* Takes those that have ended out of the list. */
static struct posted *take_ended(void)
{
    struct posted *ended = NULL, **end = &ended;
    for (struct posted **at = &first; *at;) {
        struct posted *p = *at;
        look_at(p);
        if (!p->left || p->status == SWAGG_IN_PROGRESS) {
            at = &p->next;
            continue;
        }
        *at = p->next;
        p->next = NULL;
        *end = p;
        end = &p->next;
    }
    for (last = &first; *last;)
        last = &(*last)->next;
    return ended;
}

/* Without the lock: whoever hears that a request is complete may make another. */
static void end(struct posted *p)
{
    struct task *t = &p->task;
    int error = MPI_SUCCESS;
    offers_end(t, p->status == SWAGG_OK);
    ledger_leave(p->visit, p->waited_ns);
    if (t->refused != MPI_SUCCESS)
        error = t->refused;
    else if (p->status == SWAGG_OK)
        tell_offloaded(t->call.offered, POSTED, t->bytes);
    else
        error = attempt_error(t, p->team, t->comm->label.text, p->status, p->text);
    atomic_fetch_sub(&pending, 1);
    atomic_fetch_sub(&t->comm->in_flight, 1); /* whoever hears of the end may free what keeps its state */
    front.end_request(p->made, error);
    free(p);
}

int posted_make(const struct task *t)
{
    struct posted *p = allocate_or_abort(t->call.comm, sizeof *p, "a non-blocking collective");
    p->task = *t;
    atomic_fetch_add(&t->comm->in_flight, 1);
    p->team = t->comm->posting;
    p->made = front.make_request(&p->task.call);
    p->visit = attempt_enter(t, WHY_NOT);
    pthread_mutex_lock(&lock);
    bool behind = false;
    for (const struct posted *before = first; before; before = before->next)
        behind |= before->team == p->team && !before->left;
    *last = p;
    last = &p->next;
    atomic_fetch_add(&pending, 1);
    if (!behind)
        leave(p);
    pthread_mutex_unlock(&lock);
    return MPI_SUCCESS;
}

unsigned posted_progress(void)
{
    unsigned n = 0;
    if (atomic_load(&pending) == 0 || pthread_mutex_trylock(&lock) != 0)
        return 0;
    struct posted *ended = take_ended();
    pthread_mutex_unlock(&lock);
    for (; ended; n++) {
        struct posted *next = ended->next;
        end(ended);
        ended = next;
    }
    return n;
}

/* Those descriptors that tell of calls' ends; a job that closes meanwhile does no harm. */
static nfds_t descriptors(struct pollfd fds[], nfds_t most)
{
    const struct team *before = NULL;
    nfds_t n = 0;
    pthread_mutex_lock(&lock);
    for (const struct posted *p = first; p && n < most; p = p->next) {
        if (p->left && p->team != before)
            fds[n++] = (struct pollfd){.fd = swagg_get_fd(p->team->job), .events = POLLIN};
        before = p->team;
    }
    pthread_mutex_unlock(&lock);
    return n;
}

void posted_doze(void)
{
    struct pollfd fds[16];
    const struct timespec little = {.tv_nsec = 50000};
    if (atomic_load(&pending) == 0)
        sched_yield();
    else
        ppoll(fds, descriptors(fds, sizeof fds / sizeof fds[0]), &little, NULL);
}

/* Other ranks may want the MPI library to progress before they make the same calls. */
void posted_settle(const struct shim_comm *comm)
{
    int flag;
    while (atomic_load(&comm->in_flight) > 0) {
        posted_progress();
        PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
        posted_doze();
    }
}

void posted_give_up(void)
{
    pthread_mutex_lock(&lock);
    struct posted *p = first;
    first = NULL;
    last = &first;
    pthread_mutex_unlock(&lock);
    while (p) {
        struct posted *next = p->next;
        p->status = SWAGG_ERR_ABORTED;
        if (p->left) /* what libswagg reads or writes there is left to it, until the job is closed */
            p->task.packed = NULL;
        snprintf(p->text, sizeof p->text, "the program has called MPI_Finalize and not waited for its end");
        end(p);
        p = next;
    }
}
