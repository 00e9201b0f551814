#include "requests.h"

#include <stdlib.h>
#include <string.h>

void requests_open(struct requests *q)
{
    q->bell = WAKER_NONE;
    pthread_mutex_init(&q->lock, NULL);
    pthread_cond_init(&q->work, NULL);
    pthread_cond_init(&q->changed, NULL);
}

void requests_close(struct requests *q)
{
    while (q->out > 0)
        requests_give(q, q->slots[0]);
    waker_close(&q->bell);
    pthread_cond_destroy(&q->changed);
    pthread_cond_destroy(&q->work);
    pthread_mutex_destroy(&q->lock);
}

void requests_abandon(struct requests *q)
{
    waker_close(&q->bell);
}

int requests_failure(struct requests *q)
{
    if (!q->failure)
        return SWAGG_OK;
    pthread_mutex_lock(&q->lock);
    const int rc = client_fail(q->failure, "%s", q->failure_text);
    pthread_mutex_unlock(&q->lock);
    return rc;
}

struct swagg_request *requests_take(struct requests *q)
{
    struct swagg_request *r = calloc(1, sizeof *r);
    pthread_mutex_lock(&q->lock);
    if (r && q->out < SWAGG_REQUESTS_MAX) {
        r->posted = true;
        q->slots[q->out++] = r;
    } else {
        free(r);
        r = NULL;
    }
    pthread_mutex_unlock(&q->lock);
    return r;
}

static void free_segments(struct swagg_request *r)
{
    if (r->segments != &r->only)
        free(r->segments);
    r->segments = NULL;
}

void requests_give(struct requests *q, struct swagg_request *r)
{
    staging_free(r->staged);
    r->staged = NULL;
    free_segments(r);
    for (unsigned i = 0; i < r->share_count; i++)
        free_segments(&r->shares[i]);
    free(r->shares);
    r->shares = NULL;
    r->share_count = 0;
    if (!r->posted)
        return;
    pthread_mutex_lock(&q->lock);
    for (unsigned i = 0; i < q->out; i++)
        if (q->slots[i] == r)
            q->slots[i] = q->slots[--q->out];
    if (r->state == REQUEST_ENDED && --q->ended == 0)
        waker_drain(&q->bell);
    pthread_mutex_unlock(&q->lock);
    free(r);
}

int requests_append(struct requests *q, struct swagg_request *r)
{
    pthread_mutex_lock(&q->lock);
    const int rc = q->failure ? client_fail(q->failure, "%s", q->failure_text) : SWAGG_OK;
    if (rc == SWAGG_OK) {
        if (r->compressed) {
            r->how.name = r->how.name ? r->how.name : q->name;
            q->name = 0;
        }
        if (q->last)
            q->last->next = r;
        else
            q->first = r;
        q->last = r;
        if (!q->queued)
            q->queued = r;
    }
    pthread_mutex_unlock(&q->lock);
    return rc;
}

struct swagg_request *requests_first(struct requests *q)
{
    pthread_mutex_lock(&q->lock);
    struct swagg_request *r = q->first;
    pthread_mutex_unlock(&q->lock);
    return r;
}

struct swagg_request *requests_queued(struct requests *q)
{
    pthread_mutex_lock(&q->lock);
    struct swagg_request *r = q->queued;
    pthread_mutex_unlock(&q->lock);
    return r;
}

const struct swagg_request *requests_next(struct requests *q, const struct swagg_request *r)
{
    pthread_mutex_lock(&q->lock);
    const struct swagg_request *next = r->next && r->next->state != REQUEST_QUEUED ? r->next : NULL;
    pthread_mutex_unlock(&q->lock);
    return next;
}

void requests_begun(struct requests *q, enum request_state state)
{
    pthread_mutex_lock(&q->lock);
    q->queued->state = state;
    q->queued = q->queued->next;
    pthread_mutex_unlock(&q->lock);
}

void requests_streamed(struct requests *q, struct swagg_request *r)
{
    pthread_mutex_lock(&q->lock);
    r->state = REQUEST_STREAMED;
    pthread_mutex_unlock(&q->lock);
}

/* With the lock. It is in the list no more. */
static void note_end(struct requests *q, struct swagg_request *r, int status, int error)
{
    r->status = status;
    r->error = error;
    void (*told)(struct swagg_job * whole) = r->told;
    struct swagg_job *whole = r->share_of;
    r->state = REQUEST_ENDED; /* who sees this sees the others; and may give a share back */
    if (told)
        told(whole);
    else if (r->posted && q->ended++ == 0)
        waker_wake(&q->bell);
}

void requests_end(struct requests *q, struct swagg_request *r, int status, int error)
{
    pthread_mutex_lock(&q->lock);
    struct swagg_request *before = q->first == r ? NULL : q->first;
    while (before && before->next != r)
        before = before->next;
    if (before)
        before->next = r->next;
    else
        q->first = r->next;
    if (q->last == r)
        q->last = before;
    if (q->queued == r)
        q->queued = r->next;
    note_end(q, r, status, error);
    if (q->waiting > 0)
        pthread_cond_broadcast(&q->changed);
    pthread_mutex_unlock(&q->lock);
}

void requests_made(struct requests *q, struct swagg_request *r, int status)
{
    pthread_mutex_lock(&q->lock);
    note_end(q, r, status, 0);
    if (q->waiting > 0)
        pthread_cond_broadcast(&q->changed);
    pthread_mutex_unlock(&q->lock);
}

void requests_fail(struct requests *q, int status, const char *text)
{
    pthread_mutex_lock(&q->lock);
    q->failure = status;
    strncpy(q->failure_text, text, sizeof q->failure_text - 1);
    for (struct swagg_request *r = q->first, *next; r; r = next) {
        next = r->next; /* whoever waits for it may free it from here on */
        note_end(q, r, status, 0);
    }
    q->first = q->last = q->queued = NULL;
    pthread_cond_broadcast(&q->changed);
    pthread_mutex_unlock(&q->lock);
}

uint64_t requests_deadline(struct requests *q)
{
    uint64_t earliest = UINT64_MAX;
    pthread_mutex_lock(&q->lock);
    for (const struct swagg_request *r = q->first; r; r = r->next)
        earliest = r->deadline < earliest ? r->deadline : earliest;
    pthread_mutex_unlock(&q->lock);
    return earliest;
}

const struct swagg_request *requests_overdue(struct requests *q, uint64_t now)
{
    pthread_mutex_lock(&q->lock);
    const struct swagg_request *r = q->first;
    while (r && now < r->deadline)
        r = r->next;
    pthread_mutex_unlock(&q->lock);
    return r;
}

void requests_put_off(struct requests *q, uint64_t by)
{
    pthread_mutex_lock(&q->lock);
    for (struct swagg_request *r = q->first; r; r = r->next)
        r->deadline += by;
    pthread_mutex_unlock(&q->lock);
}
