#include "watch.h"

#include <inttypes.h>
#include <stdio.h>

#include "describe.h"
#include "lanes.h"
#include "monotonic.h"

enum {
    TICK_MS = 100,        /* how exact deadlines, warnings and heartbeats are */
    STANDSTILL_MS = 1000, /* so late a tick says that the process did not run */
    WAIT_TEXT_MAX = 400,
    LATE_TEXT_MAX = 2 * DESCRIBE_CALL_MAX + 64,
};

void watch_start(struct watch *w, const struct swagg_job *job, uint64_t now)
{
    *w = (struct watch){
        .warn_after = job->options.warn_after_ns,
        .warn_at = now + job->options.warn_after_ns,
        .tick_at = now + TICK_MS * NS_PER_MS,
        .deadline = UINT64_MAX,
    };
}

void watch_go_on(struct watch *w, uint64_t now)
{
    if (w->tick_at < now)
        w->tick_at = now;
}

uint64_t watch_deadline(const struct watch *w, struct swagg_job *job)
{
    const uint64_t deadline = requests_deadline(&job->requests);
    return deadline < w->deadline ? deadline : w->deadline;
}

/* What this rank has asked about its oldest chunk, and what came back. If it is nothing, then whom the switch
 * named as missing before is no news: they may have sent long ago. */
static unsigned unanswered(const struct job_part *part)
{
    struct xfer_stats stats;
    part->job->worker->stats(part->stream, &stats);
    return stats.unanswered >= LINKS_UNANSWERED_MANY && !part->rejoining ? stats.unanswered : 0;
}

bool watch_is_answered(struct job_part *part)
{
    struct ctl_session session;
    membership_look(&part->membership, &session);
    return links_answers(&session, part->rejoining, unanswered(part));
}

/* The part that keeps the call from its end, with its session: one whose switch is silent, else the slowest.
 */
static struct job_part *find_blamed(struct swagg_job *job, struct ctl_session *session)
{
    for (unsigned i = 0; i < job->part_count; i++) {
        membership_look(&job->parts[i].membership, session);
        if (links_session_is_silent(session) || unanswered(&job->parts[i]))
            return &job->parts[i];
    }
    struct job_part *slowest = parts_slowest(job);
    membership_look(&slowest->membership, session);
    return slowest;
}

static void describe_rejoin(const struct job_part *part, const struct ctl_session *session,
                            char text[WAIT_TEXT_MAX])
{
    const struct client_node *node = part->node;
    const char *why = session->state == CTL_SESSION_JOINING ? "is to go on for another" : "has restarted";
    char names[CTL_RANKS_TEXT_MAX];
    if (session->pending.no_room || session->refusal.reason != CTL_OK)
        snprintf(text, WAIT_TEXT_MAX, "the %s %s %s and has no room for the job yet", node->what, node->text,
                 why);
    else
        snprintf(text, WAIT_TEXT_MAX, "the %s %s %s and waits for %s to join again", node->what, node->text,
                 why,
                 ctl_ranks_count(&session->pending.missing) ? ctl_ranks_text(&session->pending.missing, names)
                                                            : "the ranks");
}

/* Whom the switch waits for, as it said last. */
static struct ctl_ranks missing_ranks(const struct job_part *part)
{
    uint16_t list[AGG_MAX_WORKERS];
    struct ctl_ranks missing = {0};
    for (unsigned n = part->job->worker->missing(part->stream, list, AGG_MAX_WORKERS); n > 0; n--)
        ctl_ranks_add(&missing, list[n - 1]);
    return missing;
}

/* Whether the oldest call waits for what this rank itself brings. */
static bool lacks_tensor(struct swagg_job *job)
{
    const struct swagg_request *oldest = requests_first(&job->requests);
    return oldest && (job->flowing == oldest || (job->coming && oldest->state == REQUEST_QUEUED));
}

/* Whom or what this rank waits for, as far as it knows. */
static const char *describe_wait(const struct job_part *part, const struct ctl_session *session,
                                 char text[WAIT_TEXT_MAX])
{
    const struct client_node *node = part->node;
    const struct ctl_ranks missing = missing_ranks(part);
    char names[CTL_RANKS_TEXT_MAX], name[PART_NAME_MAX];
    const bool known = ctl_ranks_count(&missing) > 0;
    const unsigned in_vain = unanswered(part);
    if (lacks_tensor(part->job))
        snprintf(text, WAIT_TEXT_MAX, "its tensor has not all come from the GPU yet");
    else if (links_session_is_silent(session))
        snprintf(text, WAIT_TEXT_MAX, "the %s %s has been silent for %.1f s%s%s", node->what, node->text,
                 (double)ctl_session_silence(session) / NS_PER_SECOND,
                 session->hint.text[0] ? "; somebody without the key says: " : "", session->hint.text);
    else if (session->state == CTL_SESSION_REJOINING || session->state == CTL_SESSION_JOINING)
        describe_rejoin(part, session, text);
    else if (in_vain > 0)
        snprintf(text, WAIT_TEXT_MAX, "the %s %s has not answered this rank's last %u questions%s%s%s",
                 node->what, node->text, in_vain, known ? "; before them it was waiting for " : "",
                 known ? ctl_ranks_text(&missing, names) : "", known ? part_name(part, name) : "");
    else if (!known)
        snprintf(text, WAIT_TEXT_MAX, "the %s %s has not said yet for whom it waits", node->what, node->text);
    else
        snprintf(text, WAIT_TEXT_MAX, "waiting for %s%s", ctl_ranks_text(&missing, names),
                 part_name(part, name));
    return text;
}

static bool has_indices(const struct swagg_request *r)
{
    return r->compressed && r->state == REQUEST_STREAMED;
}

/* What the streams lack of the oldest call: of a compressed one its norms first. */
static const struct xfer_call *lacked_call(struct swagg_job *job, const struct swagg_request *oldest)
{
    if (oldest->state == REQUEST_QUEUED) /* what is before it is nobody's */
        return &oldest->call;
    return oldest->compressed && (int32_t)(parts_ended(job) - oldest->norms_number) <= 0 ? &oldest->norms
                                                                                         : &oldest->streamed;
}

/* Which chunk of that is missing first, counted from 1. */
static uint64_t lacked_chunk(struct swagg_job *job, const struct swagg_request *oldest)
{
    const struct xfer_call *lacked = lacked_call(job, oldest);
    uint64_t left = parts_left(job);
    if (oldest->state == REQUEST_QUEUED)
        return 1;
    if (job->shares.agreeing)
        left -= job->agreement.packets;
    if (has_indices(oldest) && lacked == &oldest->norms)
        left -= parts_packets(job, &oldest->streamed);
    for (const struct swagg_request *r = oldest; (r = requests_next(&job->requests, r));) {
        left -= parts_packets(job, &r->streamed);
        if (has_indices(r))
            left -= parts_packets(job, &r->norms);
    }
    return parts_packets(job, lacked) - left + 1;
}

/* What this rank waits for: the oldest call's sum, or a reduce before it from which it has returned; one is.
 * of: the call that cannot wait longer; NULL: it is the oldest. */
static const char *describe_late(struct swagg_job *job, const struct swagg_request *of,
                                 char text[LATE_TEXT_MAX])
{
    const struct describe_names *names = &job->options.names;
    const struct swagg_request *oldest = requests_first(&job->requests);
    const struct job_part *buffered = parts_buffered(job);
    char call[DESCRIBE_CALL_MAX], late[DESCRIBE_CALL_MAX];
    if (buffered)
        snprintf(text, LATE_TEXT_MAX, "%s, from which it had returned, is not complete",
                 describe_call(names, job->worker->oldest_call(buffered->stream), call));
    else if (of && of != oldest)
        snprintf(text, LATE_TEXT_MAX, "%s: behind %s, which has no sum for chunk %" PRIu64 " of %" PRIu64,
                 describe_call(names, &of->call, late), describe_call(names, lacked_call(job, oldest), call),
                 lacked_chunk(job, oldest), parts_packets(job, lacked_call(job, oldest)));
    else
        snprintf(text, LATE_TEXT_MAX, "%s: no sum for chunk %" PRIu64 " of %" PRIu64,
                 describe_call(names, lacked_call(job, oldest), call), lacked_chunk(job, oldest),
                 parts_packets(job, lacked_call(job, oldest)));
    return text;
}

static int fail_deadline(struct swagg_job *job, const struct swagg_request *r, uint64_t began, uint64_t now)
{
    struct ctl_session session;
    const struct job_part *blamed = find_blamed(job, &session);
    char wait[WAIT_TEXT_MAX], trouble[DESCRIBE_TROUBLE_MAX], late[LATE_TEXT_MAX], text[CLIENT_TEXT_MAX];
    snprintf(text, sizeof text, "rank %u: %s within %.1f s: %s%s", job->options.rank,
             describe_late(job, r, late), (double)(now - began) / NS_PER_SECOND,
             describe_wait(blamed, &session, wait), describe_trouble(blamed->transport->trouble, trouble));
    return job_fail_and_tell(job, SWAGG_ERR_DEADLINE, CTL_DEADLINE, text);
}

static void warn(struct watch *w, struct swagg_job *job, uint64_t now)
{
    struct ctl_session session;
    const struct job_part *blamed = find_blamed(job, &session);
    const struct swagg_request *oldest = requests_first(&job->requests);
    uint64_t since = parts_progress(job);
    if (oldest && oldest->began > since) /* they do not have it yet */
        since = oldest->began;
    const uint64_t waited = ns_between(since, now);
    if (waited < w->warn_after) {
        w->warn_after = job->options.warn_after_ns;
    } else {
        char wait[WAIT_TEXT_MAX], late[LATE_TEXT_MAX], text[CLIENT_TEXT_MAX];
        struct ctl_ranks missing = {0};
        snprintf(text, sizeof text, "job '%s': rank %u: nothing for %.1f s, %s: %s", job->options.job,
                 job->options.rank, (double)waited / NS_PER_SECOND, describe_late(job, NULL, late),
                 describe_wait(blamed, &session, wait));
        logger_write(&job->options.log, SWAGG_LOG_WARN, "%s", text);
        if (!links_session_is_silent(&session) && session.state == CTL_SESSION_READY &&
            unanswered(blamed) == 0)
            missing = missing_ranks(blamed); /* else whom it named before is no news */
        job_tell_late(job, text, &missing, since, now, watch_deadline(w, job));
        while (w->warn_after <= waited) /* more than once if there was progress after the last warning */
            w->warn_after *= 2;
    }
    w->warn_at = since + w->warn_after;
}

/* A process that stood still has heard nobody meanwhile: deadlines move by as much. The next tick is not due
 * yet where another call has just begun. */
static void allow_for_standstill(struct watch *w, struct swagg_job *job, uint64_t now)
{
    const uint64_t late = ns_between(w->tick_at, now);
    if (late <= STANDSTILL_MS * NS_PER_MS)
        return;
    requests_put_off(&job->requests, late);
    if (w->deadline != UINT64_MAX)
        w->deadline += late;
}

int watch_tick(struct watch *w, struct swagg_job *job, uint64_t now)
{
    allow_for_standstill(w, job, now);
    job_report(job, now);
    job_note_waits(job, now);
    job_show(job);
    if (job->look.at && job->look.at(job->look.ctx))
        return job_fail(job, SWAGG_ERR_ABORTED, "the job of which this is a rail has ended");
    int lanes;
    if (lanes_are_late(job, now, &lanes)) {
        w->tick_at = now + TICK_MS * NS_PER_MS;
        return lanes;
    }
    /* the last call may have ended just now, without progress here: by another thread's share */
    const bool waits = requests_first(&job->requests) || parts_buffered(job);
    const struct swagg_request *late = requests_overdue(&job->requests, now);
    if (late || (waits && now >= w->deadline))
        return fail_deadline(job, late, late ? late->began : w->began, now);
    if (waits && now >= w->warn_at)
        warn(w, job, now);
    const uint64_t next = now + TICK_MS * NS_PER_MS, deadline = watch_deadline(w, job);
    w->tick_at = next < deadline ? next : deadline;
    return SWAGG_OK;
}
