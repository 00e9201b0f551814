#include "lanes.h"

#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "interface_with.h"
#include "monotonic.h"

enum {
    BYTES_LEAST = 256 << 10, /* of a call that is shared: others would be over before threads are awake */
    MBITS_EACH = 10000,      /* of a link, that a thread sums: about what one does on a fast CPU */
    CPUS_EACH = 2,           /* of the process: the program computes beside it */
    WORD_MS = 1000,          /* beyond the deadline, a lane says for whom it waits */
};

/* --- how many --- */

/* Megabits a second of the interface that a part's packets leave by, as its driver says; 0: unknown. */
static unsigned link_mbits(const struct job_part *part)
{
    struct sockaddr_in local;
    socklen_t bytes = sizeof local;
    char name[IF_NAMESIZE], path[64];
    int mbits = 0;
    if (getsockname(part->transport->socket.fd, (struct sockaddr *)&local, &bytes) < 0 ||
        !interface_with(local.sin_addr, name))
        return 0;
    snprintf(path, sizeof path, "/sys/class/net/%s/speed", name);
    FILE *f = fopen(path, "re");
    if (f && fscanf(f, "%d", &mbits) != 1)
        mbits = 0;
    if (f)
        fclose(f);
    return mbits > 0 ? (unsigned)mbits : 0;
}

static unsigned cpus_of_process(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? (unsigned)CPU_COUNT(&set) : 1;
}

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* A device's queue is polled under a lock, so more threads are no faster there. */
static unsigned worthwhile(const struct swagg_job *job)
{
    unsigned mbits = 0;
    for (unsigned i = 0; i < job->part_count; i++)
        if (!job->parts[i].transport->polled)
            mbits += link_mbits(&job->parts[i]);
    const unsigned wanted = least((mbits + MBITS_EACH - 1) / MBITS_EACH, cpus_of_process() / CPUS_EACH);
    return wanted < 1 ? 1 : least(wanted, CLIENT_THREADS_MAX);
}

unsigned lanes_wished(const struct swagg_job *job)
{
    const struct client_options *o = &job->options;
    if (job->worker->at_servers || o->quorum || o->hosts)
        return 1;
    return o->threads ? o->threads : worthwhile(job);
}

unsigned lanes_agreed(const struct swagg_job *job)
{
    unsigned all = CLIENT_THREADS_MAX;
    for (unsigned i = 0; i < job->part_count; i++)
        all = least(all, job->parts[i].terms.lanes);
    return all;
}

/* --- calls --- */

static bool is_shared(const struct swagg_job *job, const struct swagg_request *r)
{
    const struct xfer_call *c = &r->call;
    return job->lanes && !r->compressed &&
           (c->collective == XFER_ALLREDUCE || c->collective == XFER_REDUCE) &&
           c->count * agg_element_size(c->type, c->op) >= BYTES_LEAST;
}

/* A share of a call has ended: whoever drives the job is to see it. */
static void tell_whole(struct swagg_job *job)
{
    waker_wake(&job->waker);
    membership_wake(&job->parts[0].membership);
}

/* A stream measures the segments that it is given, so each has its own. */
static bool make_share(struct swagg_request *share, const struct swagg_request *whole, struct swagg_job *lane,
                       unsigned i, unsigned shares)
{
    *share = (struct swagg_request){.job = lane,
                                    .call = whole->call,
                                    .n = whole->n,
                                    .segments = &share->only,
                                    .began = whole->began,
                                    .deadline = whole->deadline,
                                    .staged = whole->staged,
                                    .told = tell_whole,
                                    .share_of = whole->job};
    share->call.share = (uint8_t)i;
    share->call.shares = (uint8_t)shares;
    if (whole->n > 1 && !(share->segments = calloc(whole->n, sizeof *share->segments)))
        return false;
    memcpy(share->segments, whole->segments, whole->n * sizeof *share->segments);
    return true;
}

static bool make_shares(const struct lanes *l, struct swagg_request *r)
{
    r->shares = calloc(l->n, sizeof *r->shares);
    r->share_count = r->shares ? l->n : 0;
    bool made = r->shares != NULL;
    for (unsigned i = 0; i < r->share_count && made; i++)
        made = make_share(&r->shares[i], r, l->lane[i], i + 1, l->n + 1);
    r->call.shares = (uint8_t)(l->n + 1);
    return made;
}

/* Why a lane has failed, with the words in which the job says so: its own, without the name of its job. */
static void say(const struct swagg_job *lane, unsigned thread, char text[CTL_TEXT_MAX])
{
    const size_t before = strlen("job '': ") + strlen(lane->options.job);
    const char *own = swagg_last_error();
    snprintf(text, CTL_TEXT_MAX, "thread %u: %.*s", thread, CTL_TEXT_MAX - 32,
             strlen(own) > before ? own + before : own);
}

static int give_shares(struct swagg_job *job, struct swagg_request *r)
{
    const struct lanes *l = job->lanes;
    char text[CTL_TEXT_MAX];
    for (unsigned i = 0; i < l->n; i++) {
        const int rc = requests_append(&l->lane[i]->requests, &r->shares[i]);
        if (rc < 0) {
            say(l->lane[i], i + 1, text);
            job_end(job, rc, text);
            return requests_failure(&job->requests);
        }
    }
    return SWAGG_OK;
}

/* Its progress thread is to look. */
static void wake(struct swagg_job *lane)
{
    pthread_mutex_lock(&lane->requests.lock);
    pthread_cond_signal(&lane->requests.work);
    pthread_mutex_unlock(&lane->requests.lock);
    waker_wake(&lane->waker);
}

static int share(struct swagg_job *job, struct swagg_request *r)
{
    struct lanes *l = job->lanes;
    char text[CTL_TEXT_MAX];
    if (!make_shares(l, r)) {
        snprintf(text, sizeof text, "rank %u: no memory for the threads' shares", job->options.rank);
        job_end(job, SWAGG_ERR_SYSTEM, text);
        return requests_failure(&job->requests);
    }
    pthread_mutex_lock(&l->order);
    int rc = give_shares(job, r);
    if (rc == SWAGG_OK)
        rc = requests_append(&job->requests, r);
    pthread_mutex_unlock(&l->order);
    for (unsigned i = 0; i < l->n; i++)
        wake(l->lane[i]);
    return rc;
}

int lanes_append(struct swagg_job *job, struct swagg_request *r)
{
    return is_shared(job, r) ? share(job, r) : requests_append(&job->requests, r);
}

/* The first whose share is not summed; share_count: all are. */
static unsigned find_at_work(const struct swagg_request *r)
{
    unsigned i = 0;
    while (i < r->share_count && r->shares[i].state == REQUEST_ENDED && r->shares[i].status == SWAGG_OK)
        i++;
    return i;
}

bool lanes_are_through(const struct swagg_request *r)
{
    return find_at_work(r) == r->share_count;
}

/* --- how they fail --- */

bool lanes_failed(struct swagg_job *job, int *status, char text[CTL_TEXT_MAX])
{
    const struct swagg_request *r = job->lanes ? requests_first(&job->requests) : NULL; /* NULL: it closes */
    for (unsigned i = 0; r && i < r->share_count; i++) {
        const struct swagg_request *s = &r->shares[i];
        if (s->state != REQUEST_ENDED || s->status == SWAGG_OK)
            continue;
        *status = s->status;
        requests_failure(&s->job->requests);
        say(s->job, i + 1, text);
        return true;
    }
    return false;
}

bool lanes_are_late(struct swagg_job *job, uint64_t now, int *rc)
{
    const struct swagg_request *r = requests_first(&job->requests);
    char call[DESCRIBE_CALL_MAX], text[CTL_TEXT_MAX];
    *rc = SWAGG_OK;
    if (!r || parts_status(job) != XFER_DONE || lanes_are_through(r))
        return false;
    if (now < r->deadline + WORD_MS * NS_PER_MS)
        return true;
    snprintf(text, sizeof text, "rank %u: %s: thread %u has said nothing of its share within %.1f s",
             job->options.rank, describe_call(&job->options.names, &r->call, call), find_at_work(r) + 1,
             (double)(now - r->began) / NS_PER_SECOND);
    *rc = job_fail_and_tell(job, SWAGG_ERR_DEADLINE, CTL_DEADLINE, text);
    return true;
}

static void end_all(void *ctx, const char *text)
{
    const struct lanes *l = ctx;
    for (unsigned i = 0; i < l->n; i++)
        job_end(l->lane[i], SWAGG_ERR_ABORTED, text);
}

void lanes_begin(struct swagg_job *job, struct lanes *l)
{
    pthread_mutex_lock(&job->lock); /* the membership thread may look */
    job->lanes = l;
    job->quell = (struct job_quell){.others = l ? end_all : NULL, .ctx = l};
    pthread_mutex_unlock(&job->lock);
}
