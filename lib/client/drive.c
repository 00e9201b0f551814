#include "drive.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "describe.h"
#include "monotonic.h"

enum {
    PROGRESS_US = 500, /* between calls of options.progress; swagg.h promises 1 ms */
    PEERS_WORD_MS = 200,
};

static int fail_system(struct swagg_job *job, int error)
{
    char text[CTL_TEXT_MAX];
    if (error == EBADF || error == ENOTSOCK)
        return job_fail_fds_closed(job, "data socket");
    snprintf(text, sizeof text, "rank %u: cannot send to or receive from %s: %s", job->options.rank,
             job->place->text, strerror(error));
    return job_fail_and_tell(job, SWAGG_ERR_SYSTEM, CTL_APPLICATION, text);
}

/* Waits a moment, within the call's deadline, for a peer to abort the job; 0 if none does. */
static int hear_peers(struct swagg_job *job, const struct watch *w)
{
    uint64_t until = monotonic_ns() + PEERS_WORD_MS * NS_PER_MS;
    until = until < w->deadline ? until : w->deadline;
    struct ctl_session session;
    do {
        membership_wait(&job->membership, until);
        membership_look(&job->membership, &session);
    } while (session.state != CTL_SESSION_FAILED && monotonic_ns() < until);
    return session.state == CTL_SESSION_FAILED ? job_fail_session(job, &session) : 0;
}

static int fail_mismatch(struct swagg_job *job, const struct watch *w)
{
    const struct sml_mismatch *m = job->flow->mismatch(job->stream);
    const struct sml_call *oldest = job->flow->oldest_call(job->stream);
    char mismatch[DESCRIBE_MISMATCH_MAX], call[DESCRIBE_CALL_MAX], text[CLIENT_TEXT_MAX];
    describe_mismatch(&job->options.names, m, job->options.format, mismatch);
    if (describe_knows_calls(m))
        return job_fail_and_tell(job, SWAGG_ERR_MISMATCH, CTL_MISMATCH, mismatch);
    /* The mismatch is in a later chunk, which does not tell the peer's call. Then the switch has refused the
     * peer's opening packet, and told it both calls. */
    int rc = hear_peers(job, w);
    if (rc < 0)
        return rc;
    snprintf(text, sizeof text, "%s; rank %u called %s", mismatch, job->options.rank,
             describe_call(&job->options.names, oldest ? oldest : &w->call, call));
    return job_fail_and_tell(job, SWAGG_ERR_MISMATCH, CTL_MISMATCH, text);
}

/* Takes in what has arrived; returns how many packets, or a status. */
static int receive(struct swagg_job *job, uint64_t *now)
{
    struct transport_packet packets[TRANSPORT_BATCH];
    int n = job->transport->ops->receive(job->transport, packets);
    if (n < 0)
        return fail_system(job, -n);
    *now = monotonic_ns();
    bool doubt = false;
    for (int i = 0; i < n; i++)
        doubt |= job->flow->receive(job->stream, packets[i].payload, packets[i].bytes, *now) == SML_RX_DOUBT;
    if (doubt)
        membership_rejected(&job->membership);
    if (n > 0)
        job_note_waits(job, *now);
    return n;
}

static int send_due(struct swagg_job *job, uint64_t now)
{
    struct sml_send packets[TRANSPORT_BATCH];
    unsigned n;
    do {
        for (n = 0; n < TRANSPORT_BATCH && job->flow->poll(job->stream, now, &packets[n]); n++)
            ;
        int rc = n ? job->transport->ops->send(job->transport, packets, n) : 0;
        if (rc < 0)
            return fail_system(job, -rc);
    } while (n == TRANSPORT_BATCH);
    return SWAGG_OK;
}

/* Receives and sends, both without waiting; returns how many packets came, or a status. */
static int exchange(struct swagg_job *job)
{
    uint64_t now;
    int received = receive(job, &now);
    int rc = received < 0 ? received : send_due(job, now);
    return rc < 0 ? rc : received;
}

static uint64_t progress_at(const struct swagg_job *job)
{
    return job->options.progress ? job->progress_at : UINT64_MAX;
}

/* Not more often than necessary, also in small calls one after the other: progress() may take system calls,
 * and give up the time slice. */
static void let_others_progress(struct swagg_job *job, uint64_t now)
{
    if (now < progress_at(job))
        return;
    job->options.progress(job->options.progress_ctx);
    job->progress_at = monotonic_ns() + PROGRESS_US * NS_PER_US;
}

/* When a call that does not wait for all of its results is to be left; UINT64_MAX: not as things are. */
static uint64_t leaves_at(const struct swagg_job *job, const struct watch *w)
{
    if (w->patience == 0 || job->rejoining || job->flow->status(job->stream) != SML_STREAM_RUNNING ||
        job->flow->left(job->stream) > job->terms.slots)
        return UINT64_MAX;
    return job->flow->progress(job->stream) + w->patience;
}

/* Sleeps until something arrives or changes, or something is due. */
static int idle(struct swagg_job *job, const struct watch *w)
{
    uint64_t now = monotonic_ns();
    uint64_t until = job->rejoining ? UINT64_MAX : job->flow->timer(job->stream);
    until = until < progress_at(job) ? until : progress_at(job);
    until = until < w->tick_at ? until : w->tick_at;
    const uint64_t leaves = leaves_at(job, w);
    until = until < leaves ? until : leaves;
    /* Lets results gather for a moment: while no thread waits at the socket, none is woken for each packet.
     */
    uint64_t rest = job->rejoining ? UINT64_MAX - now : job->flow->rest(job->stream, now);
    if (rest > 0) {
        membership_wait(&job->membership, until < now + rest ? until : now + rest);
        return SWAGG_OK;
    }
    if (!job->rejoining && spin_may(&job->spin, now)) {
        sched_yield();
        spin_offered(&job->spin, now, monotonic_ns());
        return SWAGG_OK;
    }
    uint64_t left = until > now ? until - now : 0;
    int rc = job->transport->ops->wait(job->transport, membership_wake_fd(&job->membership), left);
    if (rc > 0)
        membership_woken(&job->membership);
    return rc < 0 ? fail_system(job, -rc) : SWAGG_OK;
}

/* The switch has restarted. Everything that it sent before is received first; then the oldest incomplete
 * chunk is final and may be told to the new one. Nothing more is received until the job has been joined anew.
 */
static int prepare_to_rejoin(struct swagg_job *job)
{
    uint64_t now;
    int n;
    while ((n = receive(job, &now)) > 0)
        ;
    if (n < 0)
        return n;
    job->rejoining = true;
    job_report(job, now);
    return SWAGG_OK;
}

static int resume(struct swagg_job *job, const struct ctl_session *session)
{
    int rc = job_adopt_terms(job, session);
    if (rc < 0)
        return rc;
    uint64_t now = monotonic_ns();
    const struct keys_shared shared = ctl_session_shared(session);
    const struct flow_config config = job_flow_config(job, session, &shared);
    const char *why = job->flow->resume(job->stream, &config, now);
    if (why) {
        char text[CTL_TEXT_MAX];
        snprintf(text, sizeof text, "rank %u: the %s has restarted, and %s", job->options.rank,
                 job->place->what, why);
        return job_fail_and_tell(job, SWAGG_ERR_ABORTED, CTL_CANNOT_RESUME, text);
    }
    job->resumed++;
    job->rejoining = false;
    job_begin_waits(job, now);
    job_report(job, now); /* from here on a JOIN must wait again until the oldest tag is final */
    return SWAGG_OK;
}

/* Acts on changes of the session. */
static int follow_session(struct swagg_job *job)
{
    struct ctl_session session;
    membership_look(&job->membership, &session);
    switch (session.state) {
    case CTL_SESSION_READY:
        return session.generation != job->generation ? resume(job, &session) : SWAGG_OK;
    case CTL_SESSION_REJOINING:
        return job->rejoining ? SWAGG_OK : prepare_to_rejoin(job);
    case CTL_SESSION_FAILED:
        return job_fail_session(job, &session);
    default:
        return SWAGG_OK;
    }
}

/* The application may have closed our descriptors. Checked before each call: what it sends and receives by.
 * The others are checked while it lasts, and by the membership thread before it uses them. */
static int check_socket(struct swagg_job *job)
{
    const struct transport *t = job->transport;
    const bool there = own_fd_holds(&t->socket) && (t->group.fd < 0 || own_fd_holds(&t->group));
    return there ? SWAGG_OK : job_fail_fds_closed(job, "data socket");
}

static int check_descriptors(struct swagg_job *job)
{
    int rc = check_socket(job);
    if (rc < 0)
        return rc;
    return membership_fds_are_closed(&job->membership) ? job_fail_fds_closed(job, "control descriptors")
                                                       : SWAGG_OK;
}

/* One round of the loop: changes of the session, what is due by time, packets; sleeps if there are none. */
static int turn(struct swagg_job *job, struct watch *w)
{
    if (membership_changed(&job->membership))
        return follow_session(job);
    uint64_t now = monotonic_ns();
    if (now >= w->tick_at) {
        int rc = check_descriptors(job);
        return rc < 0 ? rc : watch_tick(w, job, now);
    }
    int received = job->rejoining ? 0 : exchange(job);
    let_others_progress(job, now);
    return received == 0 ? idle(job, w) : received;
}

/* Whether the loop is done: for a call, when it may return; for buffered reduces, when they are complete. */
typedef bool over_fn(const struct swagg_job *job, const struct watch *w, enum sml_stream_status status);

static bool may_return(const struct swagg_job *job, const struct watch *w, enum sml_stream_status status)
{
    return status == SML_STREAM_DONE || (w->patience > 0 && monotonic_ns() >= leaves_at(job, w));
}

static bool is_complete(const struct swagg_job *job, const struct watch *w, enum sml_stream_status status)
{
    (void)w;
    return status == SML_STREAM_DONE && !job->flow->buffered(job->stream);
}

static int drive(struct swagg_job *job, struct watch *w, over_fn *over)
{
    int rc = check_socket(job);
    bool rejected = false;
    if (rc == 0)
        rc = follow_session(job);
    while (rc >= 0) {
        enum sml_stream_status status = job->flow->status(job->stream);
        if (over(job, w, status))
            return SWAGG_OK;
        if (status == SML_STREAM_MISMATCH)
            return fail_mismatch(job, w);
        if (status == SML_STREAM_REJECTED && !rejected)
            membership_rejected(&job->membership);
        rejected = status == SML_STREAM_REJECTED;
        rc = turn(job, w);
    }
    return rc;
}

int drive_call(struct swagg_job *job, struct watch *w)
{
    int rc = drive(job, w, may_return);
    if (rc < 0 || job->rejoining || w->patience > 0 || !job->flow->buffered(job->stream))
        return rc;
    rc = exchange(job); /* what the window lets out leaves at once; the membership thread sees to the rest */
    return rc < 0 ? rc : SWAGG_OK;
}

int drive_buffered(struct swagg_job *job, struct watch *w)
{
    int rc = drive(job, w, is_complete);
    job_report(job, monotonic_ns()); /* LEAVE must tell the exact number of calls */
    return rc;
}

/* Looks whether a buffered reduce has failed. The peers are told at once, the caller in its next call. If the
 * mismatch does not contain both calls, the peer reports it. */
static int follow_buffered(struct swagg_job *job)
{
    enum sml_stream_status status = job->flow->status(job->stream);
    char mismatch[DESCRIBE_MISMATCH_MAX];
    if (status == SML_STREAM_REJECTED)
        membership_rejected(&job->membership);
    job_report(job, monotonic_ns());
    if (status != SML_STREAM_MISMATCH || !describe_knows_calls(job->flow->mismatch(job->stream)))
        return SWAGG_OK;
    describe_mismatch(&job->options.names, job->flow->mismatch(job->stream), job->options.format, mismatch);
    return job_fail_and_tell(job, SWAGG_ERR_MISMATCH, CTL_MISMATCH, mismatch);
}

static int exchange_between_calls(struct swagg_job *job)
{
    int rc = check_descriptors(job);
    bool buffered = job->flow->buffered(job->stream);
    if (rc >= 0)
        rc = follow_session(job);
    if (rc >= 0 && !job->rejoining)
        rc = exchange(job);
    if (rc >= 0 && buffered)
        rc = follow_buffered(job);
    if (rc < 0 && buffered) /* there may be no later call to tell */
        logger_write(&job->options.log, SWAGG_LOG_ERROR, "%s", job->failure_text);
    return rc;
}

uint64_t drive_between_calls(void *arg)
{
    struct swagg_job *job = arg;
    if (pthread_mutex_trylock(&job->lock) != 0)
        return UINT64_MAX; /* a call is in progress: it does the work, or wakes this thread when it returns */
    int rc = job->failure ? job->failure : exchange_between_calls(job);
    uint64_t next = rc < 0 || job->rejoining ? UINT64_MAX : job->flow->timer(job->stream);
    pthread_mutex_unlock(&job->lock);
    return next;
}

bool drive_is_needed(struct swagg_job *job)
{
    struct ctl_session session;
    membership_look(&job->membership, &session);
    pthread_mutex_lock(&job->lock);
    bool needed = session.state == CTL_SESSION_REJOINING || session.generation != job->generation ||
                  job->flow->timer(job->stream) != UINT64_MAX;
    needed = needed && job->failure == 0;
    pthread_mutex_unlock(&job->lock);
    return needed;
}
