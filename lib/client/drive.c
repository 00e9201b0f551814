#include "drive.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "calls.h"
#include "describe.h"
#include "lanes.h"
#include "links.h"
#include "monotonic.h"
#include "own_thread.h"
#include "rates.h"
#include "watch.h"

static int fail_system(struct job_part *part, int error)
{
    struct swagg_job *job = part->job;
    char text[CTL_TEXT_MAX];
    if (error == EBADF || error == ENOTSOCK)
        return job_fail_fds_closed(part->job, "data socket");
    snprintf(text, sizeof text, "rank %u: cannot send to or receive from %s: %s", job->options.rank,
             part->node->text, strerror(error));
    return job_fail_and_tell(job, SWAGG_ERR_SYSTEM, CTL_APPLICATION, text);
}

/* Takes in what has arrived; returns how many packets, or a status. */
static int receive(struct job_part *part, uint64_t *now)
{
    struct swagg_job *job = part->job;
    struct transport_packet packets[TRANSPORT_BATCH];
    int n = part->transport->ops->receive(part->transport, packets);
    if (n < 0)
        return fail_system(part, -n);
    *now = monotonic_ns();
    bool doubt = false;
    for (int i = 0; i < n; i++)
        doubt |=
            job->worker->receive(part->stream, packets[i].payload, packets[i].bytes, *now) == XFER_RX_DOUBT;
    if (doubt)
        membership_rejected(&part->membership);
    if (n > 0) {
        job_note_waits(job, *now);
        rates_note_results(part);
    }
    return n;
}

static int send_due(struct job_part *part, uint64_t now)
{
    const struct agg_worker *worker = part->job->worker;
    struct xfer_send packets[TRANSPORT_BATCH];
    unsigned n;
    do {
        for (n = 0; n < TRANSPORT_BATCH && worker->poll(part->stream, now, &packets[n]); n++)
            ;
        int rc = n ? part->transport->ops->send(part->transport, packets, n) : 0;
        if (rc < 0)
            return fail_system(part, -rc);
    } while (n == TRANSPORT_BATCH);
    return SWAGG_OK;
}

/* The switch is asked for nothing that lies here already: a thread that got no CPU for long finds more than
 * one batch, and its timer expired. A stranger's flood does not keep it from asking. */
static int exchange_part(struct job_part *part)
{
    enum { BATCHES_MOST = 64 };
    uint64_t now;
    int received = 0, n, rc, batches = 0;
    do {
        n = receive(part, &now);
        received += n;
    } while (n > 0 && ++batches < BATCHES_MOST && part->job->worker->timer(part->stream) <= now);
    rc = n < 0 ? n : send_due(part, now);
    return rc < 0 ? rc : received;
}

/* The switch has restarted. Everything that it sent before is received first; then the oldest incomplete
 * chunk is final and may be told to the new one. Nothing more is received until the job has been joined anew.
 */
static int prepare_to_rejoin(struct job_part *part)
{
    uint64_t now;
    int n;
    while ((n = receive(part, &now)) > 0)
        ;
    if (n < 0)
        return n;
    part->rejoining = true;
    job_report(part->job, now);
    return SWAGG_OK;
}

static int resume(struct job_part *part, const struct ctl_session *session)
{
    struct swagg_job *job = part->job;
    const uint32_t group = part->terms.group;
    int rc = job_adopt_terms(part, session);
    if (rc < 0)
        return rc;
    if (part->terms.group != group)
        job_join_group(part);
    uint64_t now = monotonic_ns();
    const struct keys_secret shared = ctl_session_shared(session);
    const struct agg_stream_config config = job_stream_config(part, session, &shared);
    const char *why = job->worker->go_on(part->stream, &config, now);
    if (why) {
        char text[CTL_TEXT_MAX];
        snprintf(text, sizeof text, "rank %u: the %s %s has restarted, and %s", job->options.rank,
                 part->node->what, part->node->text, why);
        return job_fail_and_tell(job, SWAGG_ERR_ABORTED, CTL_CANNOT_RESUME, text);
    }
    part->resumed++;
    part->rejoining = false;
    job_begin_waits(job, now);
    job_report(job, now); /* from here on a JOIN must wait again until the oldest tag is final */
    /* What others lack: no call of this rank's may be in flight here (has_work). */
    return send_due(part, now);
}

/* Nobody calls anything. */
static bool is_idle(struct swagg_job *job)
{
    return !requests_first(&job->requests) && parts_status(job) == XFER_DONE && !parts_buffered(job);
}

static int follow(struct job_part *part)
{
    struct ctl_session session;
    membership_look(&part->membership, &session);
    switch (session.state) {
    case CTL_SESSION_READY:
        return session.generation != part->generation ? resume(part, &session) : SWAGG_OK;
    case CTL_SESSION_REJOINING:
        return part->rejoining ? SWAGG_OK : prepare_to_rejoin(part);
    case CTL_SESSION_FAILED:
        if (links_session_rests(&session, part->job->part_count) && is_idle(part->job)) {
            part->rejoining = true; /* nothing is sent there any more */
            return SWAGG_OK;
        }
        if (links_is_adrift(&part->job->links, part->index))
            return SWAGG_OK;
        return links_outlive(part, &session) ? links_follow(part, &session)
                                             : job_fail_session(part, &session);
    default:
        return SWAGG_OK;
    }
}

static int check_socket(struct job_part *part)
{
    const struct transport *t = part->transport;
    const bool there = own_fd_holds(&t->socket) && (t->group.fd < 0 || own_fd_holds(&t->group));
    return there ? SWAGG_OK : job_fail_fds_closed(part->job, "data socket");
}

static int check_part(struct job_part *part)
{
    int rc = check_socket(part);
    if (rc < 0)
        return rc;
    return membership_fds_are_closed(&part->membership)
               ? job_fail_fds_closed(part->job, "control descriptors")
               : SWAGG_OK;
}

enum {
    PEERS_WORD_MS = 200,
    PEERS_LOOK_MS = 10,
    NAP_SHARE = 8,     /* of the time for which a polled transport has had nothing ... */
    NAP_LEAST_US = 20, /* ... unless that is less: then others are offered the CPU */
    NAP_MOST_US = 500,
    LOOK_AT_GPU_US = 20, /* about what a piece takes that is copied (staging.h) */
    LOOK_AT_GPU_MS = 1,  /* between calls */
    TRY_AGAIN_MS = 1,    /* for the job's lock, which somebody has for a moment */
};

/* Waits a moment, within the calls' deadlines, for a peer to abort the job; 0 if none does. */
static int hear_peers(struct swagg_job *job)
{
    uint64_t began = monotonic_ns(), slice;
    uint64_t patience =
        earlier(PEERS_WORD_MS * NS_PER_MS, ns_between(began, watch_deadline(&job->watch, job)));
    struct ctl_session session;
    do {
        slice = earlier(patience, PEERS_LOOK_MS * NS_PER_MS);
        waker_wait(&job->waker, began + slice);
        for (unsigned i = 0; i < job->part_count; i++) {
            membership_look(&job->parts[i].membership, &session);
            if (session.state == CTL_SESSION_FAILED && !links_outlive(&job->parts[i], &session))
                return job_fail_session(&job->parts[i], &session);
        }
        const uint64_t now = monotonic_ns();
        patience = patience_left(patience, slice, began, now);
        began = now;
    } while (patience > 0);
    return 0;
}

static int fail_mismatch(struct job_part *part)
{
    struct swagg_job *job = part->job;
    const struct xfer_mismatch *m = job->worker->mismatch(part->stream);
    char mismatch[DESCRIBE_MISMATCH_MAX];
    describe_mismatch(&job->options.names, m, job->options.format, mismatch);
    /* The mismatch may be in a later chunk of the peer's, which does not tell its call. Then the switch has
     * refused the peer's opening packet, and told it both calls. */
    const int rc = describe_knows_calls(m) ? SWAGG_OK : hear_peers(job);
    return rc < 0 ? rc : job_fail_and_tell(job, SWAGG_ERR_MISMATCH, CTL_MISMATCH, mismatch);
}

/* A lane that cannot go on ends the job. If it was a peer that ended the lane, then he says so in this job,
 * too, and in it what it is about. */
static int check_lanes(struct swagg_job *job)
{
    char text[CTL_TEXT_MAX];
    int status;
    if (!lanes_failed(job, &status, text))
        return SWAGG_OK;
    const int rc = status == SWAGG_ERR_ABORTED ? hear_peers(job) : SWAGG_OK;
    return rc < 0 ? rc : job_fail_and_tell(job, status, job_reason_of(status), text);
}

static uint64_t progress_at(const struct swagg_job *job)
{
    return job->options.progress && !job->in_thread ? job->progress_at : UINT64_MAX;
}

/* Not more often than necessary, also in small calls one after the other: progress() may take system calls,
 * and give up the time slice. */
static void let_others_progress(struct swagg_job *job)
{
    const uint64_t at = progress_at(job);
    if (at == UINT64_MAX || monotonic_ns() < at)
        return;
    job->options.progress(job->options.progress_ctx);
    job->progress_at = monotonic_ns() + OWN_THREAD_PROGRESS_US * NS_PER_US;
}

/* Whether packets are to be sent or awaited; not where the call has no more chunks for this node. */
static bool has_work(const struct job_part *part)
{
    const struct agg_worker *worker = part->job->worker;
    return !part->rejoining && (worker->status(part->stream) != XFER_DONE || worker->buffered(part->stream) ||
                                worker->timer(part->stream) != UINT64_MAX);
}

/* What the driver sleeps on: its waker, and the sockets that it waits at. */
struct nap {
    struct pollfd fds[1 + 2 * SWAGG_SERVERS_MAX];
    nfds_t n;
    uint64_t until;
};

/* When a transport whose socket wakes nobody in time is to be looked at again: the less often the longer
 * nothing has come. */
static uint64_t look_again_at(const struct job_part *part, uint64_t now)
{
    const uint64_t since = ns_between(part->job->worker->progress(part->stream), now);
    const uint64_t nap = since / NAP_SHARE;
    return nap < NAP_LEAST_US * NS_PER_US ? now : now + earlier(nap, NAP_MOST_US * NS_PER_US);
}

/* A part that rests lets results gather for a moment: while no thread waits at the socket, none is woken for
 * each packet. */
static void sleep_on(struct nap *s, const struct job_part *part, uint64_t now)
{
    const struct agg_worker *worker = part->job->worker;
    const uint64_t rest = part->transport->polled ? 0 : worker->rest(part->stream, now);
    s->until = earlier(s->until, worker->timer(part->stream));
    if (part->transport->polled)
        s->until = earlier(s->until, look_again_at(part, now));
    if (rest > 0) {
        s->until = earlier(s->until, now + rest);
        return;
    }
    s->fds[s->n++] = (struct pollfd){.fd = part->transport->socket.fd, .events = POLLIN};
    if (part->transport->group.fd >= 0)
        s->fds[s->n++] = (struct pollfd){.fd = part->transport->group.fd, .events = POLLIN};
}

static bool awaits_gpu(const struct swagg_job *job)
{
    return job->flowing || job->coming;
}

/* Sleeps until something arrives or changes, or something is due. A signal may end it early. */
static void idle(struct swagg_job *job)
{
    const uint64_t now = monotonic_ns();
    struct nap s = {.fds = {{.fd = job->waker.sleeper.fd, .events = POLLIN}},
                    .n = 1,
                    .until = earlier(earlier(progress_at(job), job->watch.tick_at), calls_leave_at(job))};
    if (awaits_gpu(job)) /* nothing tells when more of a tensor has come */
        s.until = earlier(s.until, now + LOOK_AT_GPU_US * NS_PER_US);
    for (unsigned i = 0; i < job->part_count; i++)
        if (has_work(&job->parts[i]))
            sleep_on(&s, &job->parts[i], now);
    if (s.n > 1 && (s.until <= now || (!job->in_thread && spin_may(&job->spin, now)))) {
        sched_yield();
        spin_offered(&job->spin, now, monotonic_ns());
        return;
    }
    const struct timespec timeout = timespec_until(s.until, now);
    if (ppoll(s.fds, s.n, &timeout, NULL) > 0 && s.fds[0].revents)
        waker_drain(&job->waker);
}

/* Follows the sessions that have changed; returns how many, or a status. */
static int follow_changes(struct swagg_job *job)
{
    int changes = 0;
    for (unsigned i = 0; i < job->part_count; i++) {
        if (!membership_changed(&job->parts[i].membership))
            continue;
        int rc = follow(&job->parts[i]);
        if (rc < 0)
            return rc;
        changes++;
    }
    return changes;
}

static int for_all_parts(struct swagg_job *job, int (*step)(struct job_part *part))
{
    int rc = SWAGG_OK;
    for (unsigned i = 0; i < job->part_count && rc >= 0; i++)
        rc = step(&job->parts[i]);
    return rc;
}

/* Receives and sends, both without waiting; returns how many packets came, or a status. A call that begins
 * where none was in flight leaves at once: there is nothing to receive yet. */
static int exchange(struct swagg_job *job)
{
    const bool fresh = job->fresh;
    int received = 0, rc = 0;
    job->fresh = false;
    for (unsigned i = 0; i < job->part_count && rc >= 0; i++)
        if (has_work(&job->parts[i]))
            received += rc = fresh ? send_due(&job->parts[i], monotonic_ns()) : exchange_part(&job->parts[i]);
    return rc < 0 ? rc : received;
}

/* A stream that is rejected has the switch asked why, once. */
static void ask_why_rejected(struct job_part *part, enum xfer_status status)
{
    if (status == XFER_REJECTED && !part->rejected)
        membership_rejected(&part->membership);
    part->rejected = status == XFER_REJECTED;
}

/* One in which calls differ ends the job. */
static int look_at(struct job_part *part)
{
    const enum xfer_status status = part->job->worker->status(part->stream);
    if (status == XFER_MISMATCH)
        return fail_mismatch(part);
    ask_why_rejected(part, status);
    return SWAGG_OK;
}

/* One round of the loop, without sleeping: changes of the session, packets. Returns whether anything has come
 * or changed, or a status. */
static int turn(struct swagg_job *job)
{
    int rc = check_lanes(job);
    if (rc < 0 || (rc = for_all_parts(job, look_at)) < 0 || (rc = follow_changes(job)) != 0)
        return rc;
    rc = exchange(job);
    let_others_progress(job);
    return rc;
}

/* What is due by time, after what has come was looked at. */
static int keep_time(struct swagg_job *job)
{
    const uint64_t now = monotonic_ns();
    if (now < job->watch.tick_at)
        return SWAGG_OK;
    int rc = calls_step(job);
    if (rc >= 0)
        rc = for_all_parts(job, check_part);
    if (rc >= 0)
        rc = links_look(job, now);
    return rc < 0 ? rc : watch_tick(&job->watch, job, now);
}

/* A thread drives again. */
static int go_on(struct swagg_job *job)
{
    watch_go_on(&job->watch, monotonic_ns());
    int rc = job_check_end(job);
    if (rc == 0)
        rc = for_all_parts(job, check_socket);
    if (rc == 0)
        rc = for_all_parts(job, follow);
    for (unsigned i = 0; i < job->part_count; i++)
        job->parts[i].rejected = false;
    return rc;
}

int drive_until(struct swagg_job *job, drive_over_fn *over, void *ctx)
{
    int rc = go_on(job);
    while (rc >= 0 && (rc = job_check_end(job)) == 0 && (rc = calls_step(job)) == 0 && !over(job, ctx)) {
        const int news = turn(job);
        rc = news < 0 ? news : keep_time(job);
        if (rc >= 0 && news == 0 && !job->computing)
            idle(job);
    }
    /* What the window lets out of buffered reduces leaves at once; the membership thread sees to the rest. */
    if (rc == 0 && parts_buffered(job))
        rc = exchange(job);
    return rc < 0 ? rc : SWAGG_OK;
}

int drive_once(struct swagg_job *job)
{
    int rc = go_on(job);
    if (rc >= 0 && (rc = calls_step(job)) >= 0 && (rc = turn(job)) >= 0 && (rc = keep_time(job)) >= 0)
        rc = calls_step(job);
    return rc;
}

void drive_lock(struct swagg_job *job)
{
    pthread_mutex_lock(&job->lock);
    atomic_store(&job->busy, true);
}

void drive_unlock(struct swagg_job *job)
{
    atomic_store(&job->busy, false); /* before the wake: whoever is woken too early comes again */
    for (struct job_part *part = job->parts; part < job->parts + job->part_count; part++)
        if (job->computing || awaits_gpu(job) ||
            job->worker->timer(part->stream) != UINT64_MAX) /* from here on ... */
            membership_wake(&part->membership); /* ... the membership thread sees to what others need */
    pthread_mutex_unlock(&job->lock);
}

void drive_pause(struct swagg_job *job)
{
    atomic_store(&job->busy, false);
    pthread_mutex_unlock(&job->lock);
}

static bool is_complete(struct swagg_job *job, void *ctx)
{
    (void)ctx;
    return parts_status(job) == XFER_DONE && !parts_buffered(job);
}

int drive_buffered(struct swagg_job *job)
{
    const uint64_t now = monotonic_ns();
    watch_start(&job->watch, job, now);
    job->watch.began = now;
    job->watch.deadline = now + job->options.call_timeout_ns;
    int rc = drive_until(job, is_complete, NULL);
    job_report(job, monotonic_ns()); /* LEAVE must tell the exact number of calls */
    return rc;
}

/* What the ranks agree on among themselves is awaited first. It is enough that one switch knows. */
static bool all_have_finished(struct swagg_job *job, void *until)
{
    bool known = false;
    for (unsigned i = 0; i < job->part_count && parts_status(job) == XFER_DONE; i++)
        known |= membership_all_have_finished(&job->parts[i].membership);
    return known || monotonic_ns() >= *(const uint64_t *)until;
}

bool drive_to_the_end(struct swagg_job *job)
{
    const uint64_t now = monotonic_ns();
    uint64_t until = now + job->options.call_timeout_ns;
    watch_start(&job->watch, job, now);
    job->watch.warn_at = UINT64_MAX; /* nothing is late */
    job_report(job, now);
    return drive_until(job, all_have_finished, &until) == SWAGG_OK && monotonic_ns() < until;
}

/* Looks whether a buffered reduce, or a posted call, has failed. The peers are told at once, the caller in
 * its next call. If the mismatch does not contain both calls, the peer reports it. */
static int follow_posted(struct job_part *part)
{
    struct swagg_job *job = part->job;
    enum xfer_status status = job->worker->status(part->stream);
    char mismatch[DESCRIBE_MISMATCH_MAX];
    ask_why_rejected(part, status);
    job_report(job, monotonic_ns());
    if (status != XFER_MISMATCH || !describe_knows_calls(job->worker->mismatch(part->stream)))
        return SWAGG_OK;
    describe_mismatch(&job->options.names, job->worker->mismatch(part->stream), job->options.format,
                      mismatch);
    return job_fail_and_tell(job, SWAGG_ERR_MISMATCH, CTL_MISMATCH, mismatch);
}

/* Returns whether there is more to be done now, or a status. */
static int exchange_between_calls(struct job_part *part)
{
    struct swagg_job *job = part->job;
    int rc = check_part(part);
    if (rc >= 0)
        rc = check_lanes(job);
    if (rc >= 0)
        rc = links_look(job, monotonic_ns());
    bool buffered = job->worker->buffered(part->stream);
    if (rc >= 0)
        rc = follow(part);
    if (rc >= 0 && !part->rejoining)
        rc = exchange_part(part);
    if (rc >= 0 && (buffered || job->calling))
        rc = follow_posted(part);
    const uint32_t streamed = job->streamed;
    if (rc >= 0)
        rc = calls_step(job);
    if (rc < 0 && buffered) /* there may be no later call to tell */
        logger_write(&job->options.log, SWAGG_LOG_ERROR, "%s", job->failure_text);
    return rc < 0 ? rc : job->computing || job->streamed != streamed;
}

/* Of the membership threads one at a time, so that they do not find the lock taken by one another. */
uint64_t drive_between_calls(void *arg)
{
    struct job_part *part = arg;
    struct swagg_job *job = part->job;
    uint64_t next = UINT64_MAX; /* a driver does the work, or wakes this thread when it stops */
    pthread_mutex_lock(&job->between);
    if (pthread_mutex_trylock(&job->lock) == 0) {
        int rc = job->failure ? job->failure : exchange_between_calls(part);
        if (rc > 0)
            next = monotonic_ns();
        else if (rc == 0 && !part->rejoining)
            next = earlier(job->worker->timer(part->stream),
                           awaits_gpu(job) ? monotonic_ns() + LOOK_AT_GPU_MS * NS_PER_MS : UINT64_MAX);
        pthread_mutex_unlock(&job->lock);
    } else if (!atomic_load(&job->busy)) {
        next = monotonic_ns() + TRY_AGAIN_MS * NS_PER_MS;
    }
    pthread_mutex_unlock(&job->between);
    return next;
}

bool drive_is_needed(struct job_part *part)
{
    struct swagg_job *job = part->job;
    struct ctl_session session;
    membership_look(&part->membership, &session);
    pthread_mutex_lock(&job->lock);
    bool needed = session.state == CTL_SESSION_REJOINING || session.generation != part->generation ||
                  part->rejoining || job->worker->timer(part->stream) != UINT64_MAX;
    needed = needed && job->failure == 0 && !links_session_rests(&session, job->part_count);
    pthread_mutex_unlock(&job->lock);
    return needed;
}
