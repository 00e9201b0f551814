#include "local/turns.h"

#include "own_thread.h"

void turns_open(struct turns *t, const struct turns_posts *posts, void *ctx)
{
    *t = (struct turns){.posts = posts, .ctx = ctx};
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->changed, NULL);
}

/* With the lock. */
static void give_place(const struct turns *t, struct xfer_call *call)
{
    call->seq = (uint32_t)(t->taken + t->passed);
}

static void give_turn(struct turns *t, struct swagg_request *r)
{
    give_place(t, &r->call);
    r->turn = t->taken++;
}

bool turns_take(struct turns *t, struct swagg_request *r, void (*progress)(void *ctx), void *ctx)
{
    pthread_mutex_lock(&t->lock);
    give_turn(t, r);
    const bool waits = t->over != r->turn;
    while (t->over != r->turn) {
        own_thread_wait(&t->changed, &t->lock, progress);
        own_thread_progress(&t->lock, progress, ctx);
    }
    pthread_mutex_unlock(&t->lock);
    return waits;
}

void turns_over(struct turns *t)
{
    pthread_mutex_lock(&t->lock);
    t->over++;
    pthread_cond_broadcast(&t->changed);
    pthread_mutex_unlock(&t->lock);
}

void turns_pass(struct turns *t, struct xfer_call *call,
                void (*pass)(void *ctx, const struct xfer_call *call))
{
    pthread_mutex_lock(&t->lock);
    give_place(t, call);
    t->passed++;
    pass(t->ctx, call);
    pthread_mutex_unlock(&t->lock);
}

/* With the lock: the next that was posted, at its turn; NULL: the thread is to end. */
static struct swagg_request *next_posted(struct turns *t)
{
    struct swagg_request *r;
    while (!(r = t->first) && !t->ending)
        pthread_cond_wait(&t->changed, &t->lock);
    if (!r)
        return NULL;
    while (t->over != r->turn)
        pthread_cond_wait(&t->changed, &t->lock);
    t->first = r->next;
    t->oldest = r->call;
    return r;
}

/* Who is told the end may close the job at once: by then nothing is posted any more. */
static void *run(void *arg)
{
    struct turns *t = arg;
    struct swagg_request *r;
    pthread_mutex_lock(&t->lock);
    while ((r = next_posted(t)) != NULL) {
        t->posting = true;
        pthread_mutex_unlock(&t->lock);
        const int status = t->posts->make(t->ctx, r);
        pthread_mutex_lock(&t->lock);
        t->posting = false;
        t->over++;
        pthread_cond_broadcast(&t->changed);
        pthread_mutex_unlock(&t->lock);
        t->posts->end(t->ctx, r, status);
        pthread_mutex_lock(&t->lock);
    }
    pthread_mutex_unlock(&t->lock);
    return NULL;
}

int turns_post(struct turns *t, struct swagg_request *r)
{
    int rc = 0;
    pthread_mutex_lock(&t->lock);
    if (!t->has_thread) {
        rc = own_thread_start(&t->thread, run, t);
        t->has_thread = rc == 0;
    }
    if (rc == 0) {
        give_turn(t, r);
        r->next = NULL;
        if (t->first)
            t->last->next = r;
        else
            t->first = r;
        t->last = r;
        pthread_cond_broadcast(&t->changed);
    }
    pthread_mutex_unlock(&t->lock);
    return rc;
}

bool turns_posted(struct turns *t, struct xfer_call *oldest)
{
    pthread_mutex_lock(&t->lock);
    const bool any = t->posting || t->first;
    if (any)
        *oldest = t->posting ? t->oldest : t->first->call;
    pthread_mutex_unlock(&t->lock);
    return any;
}

void turns_close(struct turns *t)
{
    pthread_mutex_lock(&t->lock);
    t->ending = true;
    pthread_cond_broadcast(&t->changed);
    pthread_mutex_unlock(&t->lock);
    if (t->has_thread)
        pthread_join(t->thread, NULL);
    pthread_cond_destroy(&t->changed);
    pthread_mutex_destroy(&t->lock);
}
