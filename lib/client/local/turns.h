/* Calls that go by a job's level within the host take turns, one at a time, in the order in which they were
 * made: those that are posted in a thread of the level's, which is started by the first, the others in their
 * caller's. And they have places among all of the job's calls: what goes another way is counted here, too.
 *
 * Any thread, but for open and close. */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "requests.h"

/* What the thread does with a posted call. */
struct turns_posts {
    int (*make)(void *ctx, struct swagg_request *r);             /* at its turn; returns its status */
    void (*end)(void *ctx, struct swagg_request *r, int status); /* once its turn is over */
};

struct turns {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    uint64_t taken, over;               /* so many calls were made, of which so many are over */
    uint64_t passed;                    /* calls of the job's that took no turn */
    struct swagg_request *first, *last; /* posted, and not begun yet */
    struct xfer_call oldest;            /* the posted one whose turn it is, or was */
    bool posting;                       /* it is */
    bool ending;                        /* nothing is posted any more */
    pthread_t thread;
    bool has_thread;
    const struct turns_posts *posts;
    void *ctx;
};

void turns_open(struct turns *t, const struct turns_posts *posts, void *ctx);

/* Gives the call its place (its seq), waits until those made before are over, and while it waits calls
 * progress now and then, unless that is NULL. Whether it had to wait. turns_over ends the turn. */
bool turns_take(struct turns *t, struct swagg_request *r, void (*progress)(void *ctx), void *ctx);
void turns_over(struct turns *t);

/* Gives a call its place that takes no turn, and says so by pass, one at a time. */
void turns_pass(struct turns *t, struct xfer_call *call,
                void (*pass)(void *ctx, const struct xfer_call *call));

/* A posted one, which gets its place, too: 0, or -errno: there is no thread for it. */
int turns_post(struct turns *t, struct swagg_request *r);

/* Whether some posted call is not over yet, and the oldest of these. */
bool turns_posted(struct turns *t, struct xfer_call *oldest);

/* Waits until all that is posted is over, and ends the thread. */
void turns_close(struct turns *t);
