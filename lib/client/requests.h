/* The calls that a job has in flight, and those that were posted and have ended since. Any thread posts; one
 * at a time, the driver (drive.h), has the job's lock, hands them to the streams in the order in which they
 * were posted, and ends them in that order.
 *
 * What says "driver" is written with both locks, the job's and this one, and read with either; what is behind
 * a state that says so, by whoever has seen that. Functions take this one themselves. */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "compress.h"
#include "describe.h"
#include "own_fd.h"
#include "staging.h"
#include "swagg.h"
#include "transfer/segments.h"
#include "wire/control.h"

enum request_state {
    REQUEST_QUEUED,   /* the streams do not have it yet */
    REQUEST_NORMS,    /* they have the norms of a compressed one */
    REQUEST_STREAMED, /* they have it, or a compressed one's indices, too */
    REQUEST_ENDED,
};

/* Of a reduce-scatter: what this rank adds to its block, its segment's out, when that has come. Bytes. */
struct request_own {
    uint64_t before, bytes; /* the block, and what lies before it in the tensor */
};

struct swagg_request {
    struct swagg_job *job;
    struct xfer_call call;         /* as it was made */
    struct xfer_segment only;      /* the place of a single one */
    struct xfer_segment *segments; /* [n] */
    size_t n;
    bool compressed, posted; /* posted: the program has it until it was told its end */
    bool part_of_long;       /* of a call for which nobody spins (spin.h) */
    struct compress_how how;
    uint64_t began, deadline;
    void (*finish)(
        struct swagg_request *r); /* by whoever is told that it has ended well; NULL: nothing is left */
    struct request_own own;
    void *ready; /* the program's event, until it is staged (struct swagg_post) */
    struct staging
        *staged;   /* what it has in a GPU's memory (staging.h), of a share the whole's; NULL: nothing */
    uint64_t turn; /* in the job's level, if that takes it (local/turns.h) */
    struct swagg_request *shares; /* [share_count], of the job's lanes (lanes.h) */
    unsigned share_count;
    void (*told)(struct swagg_job *whole); /* ... is told when it has ended */
    struct swagg_job *share_of;            /* of a share: the job whose call it is; else NULL */
    /* the driver's; the end of one that the level has taken is its thread's */
    _Atomic(enum request_state) state;
    struct xfer_call streamed;    /* the last that the streams have of it: itself, norms or indices */
    uint32_t number;              /* ... as they count calls */
    struct xfer_call norms;       /* of a compressed one: the first that they have of it */
    uint32_t norms_number;        /* ... as number */
    struct xfer_segment parts[2]; /* ... where these are, and its indices */
    struct compress_call *compressing;
    int status; /* once it has ended */
    int error;  /* SWAGG_ERR_ARGUMENT: what the streams say, an errno; else 0 */
    struct swagg_request *next;
};

struct requests {
    pthread_mutex_t lock;
    pthread_cond_t changed;             /* some request has ended, or nobody drives any more */
    pthread_cond_t work;                /* for the job's progress thread: there is something to drive */
    struct swagg_request *first, *last; /* in flight, in the order in which they were posted */
    struct swagg_request *queued;       /* the first of them that the streams do not have yet */
    struct swagg_request *slots[SWAGG_REQUESTS_MAX]; /* [out]: posted, and their ends not told yet */
    unsigned out, ended;                             /* ended: of these */
    struct waker bell;   /* holds a byte while some have ended; opened when it is asked for */
    bool driving;        /* some thread drives */
    unsigned waiting;    /* threads that sleep on `changed` */
    uint64_t name;       /* of the tensor of the next compressed call */
    _Atomic int failure; /* of the job; 0: all is well, as may be seen without the lock */
    char failure_text[CLIENT_TEXT_MAX];
    atomic_bool aborted; /* the driver is to end the job with this text */
    int abort_status;
    char abort_text[CTL_TEXT_MAX];
};

void requests_open(struct requests *q);
void requests_close(struct requests *q);

/* In a child that inherited the job by fork: closes its copies of the descriptors. Threads that it does not
 * have may hold the lock here, or wait. */
void requests_abandon(struct requests *q);

/* The job's failure, which becomes this thread's last error; or 0. */
int requests_failure(struct requests *q);

/* Takes room for a posted one: NULL, there are as many as there may be. Gives it back, with the segments of
 * whichever kind. */
struct swagg_request *requests_take(struct requests *q);
void requests_give(struct requests *q, struct swagg_request *r);

/* Puts it behind the others. SWAGG_OK, or the job's failure, as above. */
int requests_append(struct requests *q, struct swagg_request *r);

/* For the driver: the oldest in flight, and the first that is to begin; NULL: there is none. */
struct swagg_request *requests_first(struct requests *q);
struct swagg_request *requests_queued(struct requests *q);

/* The one behind it, if the streams have that, too; else NULL. */
const struct swagg_request *requests_next(struct requests *q, const struct swagg_request *r);

/* The streams have the first of those that were queued; they have a compressed one's indices; one has ended,
 * or cannot be had. */
void requests_begun(struct requests *q, enum request_state state);
void requests_streamed(struct requests *q, struct swagg_request *r);
void requests_end(struct requests *q, struct swagg_request *r, int status, int error);

/* A posted call that went another way, and never was in flight here, has ended. */
void requests_made(struct requests *q, struct swagg_request *r, int status);

/* The job has failed: all end with this status. */
void requests_fail(struct requests *q, int status, const char *text);

/* The earliest deadline of all in flight; UINT64_MAX: none is. The first whose deadline has passed, or NULL.
 * All move by so much. */
uint64_t requests_deadline(struct requests *q);
const struct swagg_request *requests_overdue(struct requests *q, uint64_t now);
void requests_put_off(struct requests *q, uint64_t by);
