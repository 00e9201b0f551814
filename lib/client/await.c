#include "await.h"

#include <string.h>

#include "drive.h"
#include "lanes.h"
#include "own_thread.h"

struct wanted {
    struct swagg_request *const *requests;
    size_t n;
    bool (*enough)(void *ctx); /* NULL: nothing else is wanted */
    void *ctx;
};

static bool is_enough(const struct wanted *w)
{
    return w->enough && w->enough(w->ctx);
}

/* One that has ended; n: none has. With either lock. */
static size_t find_ended(const struct wanted *w)
{
    size_t i = 0;
    while (i < w->n && (!w->requests[i] || w->requests[i]->state != REQUEST_ENDED))
        i++;
    return i;
}

static bool has_ended(struct swagg_job *job, void *ctx)
{
    const struct wanted *w = ctx;
    (void)job;
    return find_ended(w) < w->n || is_enough(w);
}

/* With the lock of the requests: this thread drives no more. What was posted at the last moment is for
 * whoever drives next, and for the job's own threads if nobody does. */
static void hand_over(struct swagg_job *job)
{
    struct requests *q = &job->requests;
    if (q->waiting > 0)
        pthread_cond_broadcast(&q->changed);
    else if (q->first && job->has_progress_thread)
        pthread_cond_signal(&q->work);
    else if (q->queued)
        for (unsigned i = 0; i < job->part_count; i++)
            membership_wake(&job->parts[i].membership);
}

/* A thread's turn at driving: with the lock of the requests, which it gives back meanwhile. in_thread: as of
 * await_any_or. */
static void begin_turn(struct swagg_job *job, bool in_thread)
{
    job->requests.driving = true;
    pthread_mutex_unlock(&job->requests.lock);
    drive_lock(job);
    job->in_thread = in_thread;
}

static void end_turn(struct swagg_job *job)
{
    job->in_thread = false;
    drive_unlock(job);
    pthread_mutex_lock(&job->requests.lock);
    job->requests.driving = false;
    hand_over(job);
}

/* The same of a thread that has another turn at once: nobody else need be woken. */
static void pause_turn(struct swagg_job *job)
{
    job->in_thread = false;
    drive_pause(job);
    pthread_mutex_lock(&job->requests.lock);
    job->requests.driving = false;
}

/* One round, in a turn of its own. */
static void drive_a_round(struct swagg_job *job)
{
    begin_turn(job, false);
    if (!job->failure)
        drive_once(job);
    end_turn(job);
}

/* With the same lock: another thread drives, or there is nothing to drive. Somebody else's progress may be
 * what it waits for. */
static void sleep_until_changed(struct swagg_job *job)
{
    struct requests *q = &job->requests;
    q->waiting++;
    own_thread_wait(&q->changed, &q->lock, job->options.progress);
    q->waiting--;
    own_thread_progress(&q->lock, job->options.progress, job->options.progress_ctx);
}

size_t await_any_or(struct swagg_job *job, struct swagg_request *const requests[], size_t n,
                    bool (*enough)(void *ctx), void *ctx, bool in_thread)
{
    struct requests *q = &job->requests;
    struct wanted wanted = {requests, n, enough, ctx};
    bool slept = false;
    size_t i;
    pthread_mutex_lock(&q->lock);
    while ((i = find_ended(&wanted)) == n && !is_enough(&wanted)) {
        slept = q->driving || !q->first; /* what the job's level has taken is not driven */
        if (slept) {
            sleep_until_changed(job);
            continue;
        }
        begin_turn(job, in_thread);
        if (!job->failure)
            drive_until(job, has_ended, &wanted);
        if (enough)
            pause_turn(job);
        else
            end_turn(job);
    }
    if (slept && !q->driving) /* the driver may have handed over to this thread, which needs nothing more */
        hand_over(job);
    pthread_mutex_unlock(&q->lock);
    return i;
}

size_t await_any(struct swagg_job *job, struct swagg_request *const requests[], size_t n)
{
    return await_any_or(job, requests, n, NULL, NULL, false);
}

void await_leave(struct swagg_job *job)
{
    struct requests *q = &job->requests;
    drive_lock(job);
    drive_unlock(job);
    pthread_mutex_lock(&q->lock);
    hand_over(job);
    pthread_mutex_unlock(&q->lock);
}

void await_push(struct swagg_job *job)
{
    struct requests *q = &job->requests;
    pthread_mutex_lock(&q->lock);
    const bool driving = q->driving;
    if (!driving)
        drive_a_round(job);
    pthread_mutex_unlock(&q->lock);
    if (driving)
        waker_wake(&job->waker);
}

int await_staged(struct swagg_request *r, int status)
{
    if (!r->staged)
        return status;
    const int rc = staging_end(r->staged, status == SWAGG_OK);
    return status < 0 || rc == SWAGG_OK ? status : job_end_here(r->job);
}

int await_end(struct swagg_request *r)
{
    struct swagg_job *job = r->job;
    char call[DESCRIBE_CALL_MAX];
    if (r->status == SWAGG_OK && r->finish)
        r->finish(r);
    const int rc = await_staged(r, r->status);
    if (r->error)
        client_fail(rc, "the call cannot begin: %s", strerror(r->error));
    else if (rc < 0)
        requests_failure(&job->requests);
    if (rc < 0 && !r->error && r->posted)
        client_fail(rc, "%s; this was %s, which rank %u had posted", swagg_last_error(),
                    describe_call(&job->options.names, &r->call, call), job->options.rank);
    requests_give(&job->requests, r);
    return rc;
}

int await_call(struct swagg_request *r)
{
    const int rc = lanes_append(r->job, r);
    if (rc < 0) {
        requests_give(&r->job->requests, r);
        return rc;
    }
    await_any(r->job, &r, 1);
    return await_end(r);
}

int await_look(struct swagg_request *r)
{
    struct swagg_job *job = r->job;
    struct requests *q = &job->requests;
    pthread_mutex_lock(&q->lock);
    if (r->state != REQUEST_ENDED && !q->driving && q->first && !job->has_progress_thread)
        drive_a_round(job);
    const bool ended = r->state == REQUEST_ENDED;
    pthread_mutex_unlock(&q->lock);
    return ended ? await_end(r) : SWAGG_IN_PROGRESS;
}

static bool has_nothing_to_do(struct swagg_job *job, void *ctx)
{
    (void)ctx;
    return atomic_load(&job->closing) || !requests_first(&job->requests);
}

static void *run(void *arg)
{
    struct swagg_job *job = arg;
    struct requests *q = &job->requests;
    pthread_mutex_lock(&q->lock);
    while (!atomic_load(&job->closing)) {
        if (q->driving || !q->first) {
            pthread_cond_wait(&q->work, &q->lock);
            continue;
        }
        begin_turn(job, true);
        if (!job->failure)
            drive_until(job, has_nothing_to_do, NULL);
        end_turn(job);
    }
    pthread_mutex_unlock(&q->lock);
    return NULL;
}

int await_start_thread(struct swagg_job *job)
{
    const int rc = own_thread_start(&job->progress_thread, run, job);
    job->has_progress_thread = rc == 0;
    return rc;
}

void await_stop_thread(struct swagg_job *job)
{
    if (!job->has_progress_thread)
        return;
    pthread_mutex_lock(&job->requests.lock);
    atomic_store(&job->closing, true);
    pthread_cond_signal(&job->requests.work);
    pthread_mutex_unlock(&job->requests.lock);
    waker_wake(&job->waker);
    pthread_join(job->progress_thread, NULL);
    job->has_progress_thread = false;
}
