#include "job.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "describe.h"
#include "local/plan.h"
#include "monotonic.h"
#include "own_process.h"

int parts_begin(struct swagg_job *job, const struct xfer_call *call, struct xfer_segment segments[], size_t n,
                uint64_t now)
{
    int rc = 0; /* the first part has no fewer packets than the others: they say the same */
    for (unsigned i = 0; i < job->part_count && rc == 0; i++)
        rc = job->worker->begin(job->parts[i].stream, call, segments, n, now);
    return rc;
}

enum xfer_status parts_status(const struct swagg_job *job)
{
    enum xfer_status all = XFER_DONE;
    for (unsigned i = 0; i < job->part_count; i++) {
        const enum xfer_status status = job->worker->status(job->parts[i].stream);
        if (status == XFER_MISMATCH)
            return status;
        if (all != XFER_REJECTED && status != XFER_DONE)
            all = status;
    }
    return all;
}

const struct job_part *parts_buffered(const struct swagg_job *job)
{
    for (unsigned i = 0; i < job->part_count; i++)
        if (job->worker->buffered(job->parts[i].stream))
            return &job->parts[i];
    return NULL;
}

uint64_t parts_left(const struct swagg_job *job)
{
    uint64_t left = 0;
    for (unsigned i = 0; i < job->part_count; i++)
        left += job->worker->left(job->parts[i].stream);
    return left;
}

static uint32_t least_of_parts(const struct swagg_job *job, uint32_t (*calls)(const void *stream))
{
    uint32_t least = calls(job->parts[0].stream);
    for (unsigned i = 1; i < job->part_count; i++) {
        const uint32_t of_part = calls(job->parts[i].stream);
        least = (int32_t)(of_part - least) < 0 ? of_part : least;
    }
    return least;
}

uint32_t parts_ended(const struct swagg_job *job)
{
    return least_of_parts(job, job->worker->ended);
}

uint64_t parts_packets(const struct swagg_job *job, const struct xfer_call *call)
{
    uint64_t packets = 0;
    for (unsigned i = 0; i < job->part_count; i++)
        packets += job->worker->packets(job->parts[i].stream, call);
    return packets;
}

uint64_t parts_progress(const struct swagg_job *job)
{
    uint64_t newest = 0;
    for (unsigned i = 0; i < job->part_count; i++) {
        const uint64_t progress = job->worker->progress(job->parts[i].stream);
        newest = progress > newest ? progress : newest;
    }
    return newest;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

void parts_stats(const struct swagg_job *job, struct xfer_stats *out)
{
    *out = (struct xfer_stats){0};
    if (job->part_count == 0)
        return;
    job->worker->stats(job->parts[0].stream, out);
    for (unsigned i = 1; i < job->part_count; i++) {
        struct xfer_stats s;
        job->worker->stats(job->parts[i].stream, &s);
        *out = (struct xfer_stats){
            .sent = out->sent + s.sent,
            .retransmitted = out->retransmitted + s.retransmitted,
            .probes = out->probes + s.probes,
            .results = out->results + s.results,
            .duplicates = out->duplicates + s.duplicates,
            .bad = out->bad + s.bad,
            .timeouts = out->timeouts + s.timeouts,
            .kept = out->kept + s.kept,
            .damaged = out->damaged + s.damaged,
            .srtt_ns = larger(out->srtt_ns, s.srtt_ns),
            .rttvar_ns = larger(out->rttvar_ns, s.rttvar_ns),
            .rto_ns = larger(out->rto_ns, s.rto_ns),
            .window = out->window + s.window,
            .unanswered = out->unanswered > s.unanswered ? out->unanswered : s.unanswered,
        };
    }
}

struct job_part *parts_slowest(const struct swagg_job *job)
{
    struct job_part *slowest = NULL;
    for (unsigned i = 0; i < job->part_count; i++) {
        struct job_part *p = &job->parts[i];
        if (job->worker->status(p->stream) != XFER_DONE &&
            (!slowest || job->worker->progress(p->stream) < job->worker->progress(slowest->stream)))
            slowest = p;
    }
    return slowest ? slowest : &job->parts[0];
}

const char *part_name(const struct job_part *part, char text[PART_NAME_MAX])
{
    text[0] = '\0';
    if (part->job->part_count > 1)
        snprintf(text, PART_NAME_MAX, " at the %s %s", part->node->what, part->node->text);
    return text;
}

void job_settle(struct swagg_job *job)
{
    for (unsigned i = 0; i < job->part_count; i++) {
        struct transport *t = job->parts[i].transport;
        if (t && t->ops->settle)
            t->ops->settle(t);
    }
}

enum { SERVER_WORDS = 24 }; /* "parameter server", and what is around it and its address */

int job_fail(struct swagg_job *job, int status, const char *format, ...)
{
    char text[CLIENT_TEXT_MAX - 2 * CTL_NAME_MAX]; /* leaves room for the job's name */
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    job->failure = status;
    snprintf(job->failure_text, sizeof job->failure_text, "job '%s': %s", job->options.job, text);
    if (job->quell.others) /* before tensors are the caller's again */
        job->quell.others(job->quell.ctx, text);
    job_settle(job);
    requests_fail(&job->requests, status, job->failure_text);
    events_end(&job->events, status, job->failure_text);
    return client_fail(status, "%s", job->failure_text);
}

int job_check_own(const struct swagg_job *job)
{
    if (!job)
        return client_fail(SWAGG_ERR_ARGUMENT, "job is NULL");
    if (job->owner != own_process())
        return client_fail(SWAGG_ERR_ARGUMENT,
                           "job '%s' was opened by process %d: after a fork, open another", job->options.job,
                           (int)job->owner);
    return SWAGG_OK;
}

/* What is said of the members of a rail's job is said of hosts. */
static void name_hosts(const struct swagg_job *job, char text[CTL_TEXT_MAX])
{
    char named[CTL_TEXT_MAX];
    if (!job->options.hosts)
        return;
    local_name_hosts(job->options.hosts, text, named, sizeof named);
    memcpy(text, named, sizeof named);
}

enum ctl_reason job_reason_of(int status)
{
    return status == SWAGG_ERR_DEADLINE   ? CTL_DEADLINE
           : status == SWAGG_ERR_MISMATCH ? CTL_MISMATCH
           : status == SWAGG_ERR_LOST     ? CTL_RANK_LOST
                                          : CTL_APPLICATION;
}

int job_fail_and_tell(struct swagg_job *job, int status, enum ctl_reason reason, const char *said)
{
    char text[CLIENT_TEXT_MAX];
    snprintf(text, sizeof text, "%s", said);
    if (job->options.hosts)
        local_name_hosts(job->options.hosts, said, text, sizeof text);
    for (unsigned i = 0; i < job->part_count; i++)
        if (job->parts[i].membership_is_open)
            membership_abort(&job->parts[i].membership, reason, job->options.rank, text);
    if (job->tell.others)
        job->tell.others(job->tell.ctx, status, reason, text);
    return job_fail(job, status, "%s", text);
}

static int failure_status(const struct swagg_job *job, const struct ctl_failure *f)
{
    switch (f->reason) {
    case CTL_RANK_LOST:
    case CTL_RANK_LEFT:
    case CTL_LEFT_RESUMING:
        return SWAGG_ERR_LOST;
    case CTL_MISMATCH:
        return SWAGG_ERR_MISMATCH;
    case CTL_DEADLINE:
        return f->rank == job->options.rank ? SWAGG_ERR_DEADLINE : SWAGG_ERR_ABORTED;
    case CTL_CANNOT_RESUME:
    case CTL_APPLICATION:
    case CTL_ENDED:
        return SWAGG_ERR_ABORTED;
    default:
        return SWAGG_ERR_REFUSED;
    }
}

/* What a server says of a job names the server, where there are several; a peer that has passed on another's
 * words has done so already. */
static const char *session_text(const struct job_part *part, const struct ctl_failure *f,
                                char text[CTL_TEXT_MAX])
{
    const struct client_node *node = part->node;
    const bool is_named = strncmp(f->text, node->what, strlen(node->what)) == 0;
    if (part->job->part_count == 1 || is_named)
        memcpy(text, f->text, CTL_TEXT_MAX);
    else
        snprintf(text, CTL_TEXT_MAX, "%s %s: %.*s", node->what, node->text,
                 CTL_TEXT_MAX - (int)sizeof node->text - SERVER_WORDS, f->text);
    return text;
}

/* The ranks may hear of it from another server first, as this rank's leaving; so they are told there why. */
static void tell_others(struct job_part *part, const struct ctl_failure *f, const char *text)
{
    struct swagg_job *job = part->job;
    for (unsigned i = 0; i < job->part_count; i++)
        if (&job->parts[i] != part && job->parts[i].membership_is_open)
            membership_abort(&job->parts[i].membership, (enum ctl_reason)f->reason, f->rank, text);
    if (job->tell.others)
        job->tell.others(job->tell.ctx, failure_status(job, f), (enum ctl_reason)f->reason, text);
}

bool job_has_links(const struct swagg_job *job)
{
    return job->part_count > 1 && job->worker->move;
}

bool job_may_outlive(const struct swagg_job *job, const struct ctl_session *session)
{
    return links_session_rests(session, job->part_count) ||
           (job_has_links(job) &&
            (session->failure.reason == CTL_RANK_LOST || session->failure.reason == CTL_MOVED_BACK));
}

static int milliseconds(uint64_t ns)
{
    return ns / NS_PER_MS < INT_MAX ? (int)(ns / NS_PER_MS) : INT_MAX;
}

void job_hear(struct job_part *part, enum membership_news news, const struct ctl_session *session)
{
    static const char *const happened[] = {[MEMBERSHIP_SILENT] = "is silent",
                                           [MEMBERSHIP_RESTARTED] = "has restarted",
                                           [MEMBERSHIP_BACK] = "is there again"};
    struct swagg_job *job = part->job;
    char text[CLIENT_TEXT_MAX], said[CTL_TEXT_MAX];
    if (news == MEMBERSHIP_FAILED && job_may_outlive(job, session))
        return;
    if (news == MEMBERSHIP_FAILED) {
        snprintf(text, sizeof text, "job '%s': %s", job->options.job,
                 session_text(part, &session->failure, said));
        events_end(&job->events, failure_status(job, &session->failure), text);
        return;
    }
    snprintf(text, sizeof text, "job '%s': rank %u: the %s %s %s", job->options.job, job->options.rank,
             part->node->what, part->node->text, happened[news]);
    events_tell(&job->events,
                &(struct swagg_event){
                    .struct_size = sizeof(struct swagg_event),
                    .kind = news == MEMBERSHIP_BACK ? SWAGG_EVENT_SWITCH_FOUND : SWAGG_EVENT_SWITCH_LOST,
                    .text = text,
                    .node = part->node->text,
                    .waited_ms = news == MEMBERSHIP_BACK ? 0 : milliseconds(ctl_session_silence(session)),
                    .ends_in_ms = -1});
}

void job_tell_late(struct swagg_job *job, const char *text, const struct ctl_ranks *missing, uint64_t since,
                   uint64_t now, uint64_t deadline)
{
    int ranks[AGG_MAX_WORKERS], n = 0;
    for (unsigned rank = 0; rank < job->options.size; rank++)
        if (ctl_ranks_has(missing, rank))
            ranks[n++] = (int)rank;
    events_tell(&job->events,
                &(struct swagg_event){.struct_size = sizeof(struct swagg_event),
                                      .kind = SWAGG_EVENT_LATE,
                                      .text = text,
                                      .ranks = ranks,
                                      .rank_count = n,
                                      .waited_ms = milliseconds(now - since),
                                      .ends_in_ms = milliseconds(deadline > now ? deadline - now : 0)});
}

int job_fail_session(struct job_part *part, const struct ctl_session *session)
{
    struct swagg_job *job = part->job;
    const struct ctl_failure *f = &session->failure;
    char call[DESCRIBE_CALL_MAX], text[CTL_TEXT_MAX];
    job->reason = (enum ctl_reason)f->reason;
    session_text(part, f, text);
    if (f->reason != CTL_APPLICATION) /* which a peer has said, of ranks */
        name_hosts(job, text);
    tell_others(part, f, text);
    if (!part->stream || !job->worker->buffered(part->stream))
        return job_fail(job, failure_status(job, f), "%s", text);
    return job_fail(job, failure_status(job, f), "%s; %s, from which rank %u had returned, was not complete",
                    text, describe_call(&job->options.names, job->worker->oldest_call(part->stream), call),
                    job->options.rank);
}

int job_fail_fds_closed(struct swagg_job *job, const char *what)
{
    char text[CTL_TEXT_MAX];
    snprintf(text, sizeof text,
             "rank %u: this program has closed the job's %s: a program that closes descriptors it did not "
             "open must do so "
             "before swagg_open",
             job->options.rank, what);
    return job_fail_and_tell(job, SWAGG_ERR_SYSTEM, CTL_APPLICATION, text);
}

static int check_terms(struct job_part *part)
{
    struct swagg_job *job = part->job;
    if (job->options.compression.on && !part->terms.compressed)
        return job_fail(job, SWAGG_ERR_REFUSED,
                        "the switch %s cannot sum compressed calls, it is too old: update it, or leave "
                        "options.compression at SWAGG_COMPRESSION_NONE",
                        part->node->text);
    if (job->options.quorum && !part->terms.quorum)
        return job_fail(job, SWAGG_ERR_REFUSED,
                        "the switch %s cannot sum by a quorum, it is too old: update it, or leave "
                        "options.quorum and options.quorum_percent at 0",
                        part->node->text);
    return SWAGG_OK;
}

/* All streams must cut a call into the same chunks. The ranks have the same terms of each server, and so come
 * to the same. */
static void merge_terms(struct swagg_job *job)
{
    job->terms = job->parts[0].terms;
    for (unsigned i = 1; i < job->part_count; i++) {
        const struct agg_granted *t = &job->parts[i].terms;
        job->terms.slots += t->slots;
        if (t->chunk_bytes < job->terms.chunk_bytes)
            job->terms.chunk_bytes = t->chunk_bytes;
    }
    pthread_mutex_lock(&job->shown.lock);
    job->shown.terms = job->terms;
    pthread_mutex_unlock(&job->shown.lock);
}

struct agg_granted job_terms(struct swagg_job *job)
{
    pthread_mutex_lock(&job->shown.lock);
    const struct agg_granted terms = job->shown.terms;
    pthread_mutex_unlock(&job->shown.lock);
    return terms;
}

int job_adopt_terms(struct job_part *part, const struct ctl_session *session)
{
    struct swagg_job *job = part->job;
    part->granted = session->ready.terms;
    part->terms = job->worker->terms(&part->granted); /* which the session has accepted */
    merge_terms(job);
    int rc = check_terms(part);
    if (rc < 0)
        return rc;
    part->generation = session->generation;
    const struct ctl_ready *r = &session->ready;
    part->transport->takes_messages = r->nic == CTL_NIC_MESSAGES;
    rc = part->transport->ops->set_ports(part->transport, r->data_port, r->data_ports);
    if (rc < 0)
        return job_fail(job, SWAGG_ERR_SYSTEM, "cannot address the UDP ports %u..%u of the %s %s: %s",
                        r->data_port, r->data_port + r->data_ports - 1, part->node->what, part->node->text,
                        strerror(-rc));
    return SWAGG_OK;
}

int job_open_transport(struct job_part *part, const struct client_node *node, unsigned mtu,
                       struct transport **out, char why[NETWORK_WORDS])
{
    const struct swagg_job *job = part->job;
    const struct transport_config config = {.switch_ip = node->ip,
                                            .port = job->protocol->udp_ports.first,
                                            .key = job->protocol->shard_key,
                                            .mark = job->protocol->mark,
                                            .note_group = job->protocol->note_group,
                                            .mtu = mtu,
                                            .packet_max =
                                                job->worker->packet_bytes(mtu, job->options.checksum),
                                            .checksum = job->options.checksum};
    why[0] = '\0';
    return job->network->ops->transport(job->network, out, &config, why);
}

static uint64_t random_not_zero(void)
{
    uint64_t x = 0;
    while (x == 0)
        if (getrandom(&x, sizeof x, 0) < 0)
            x = monotonic_ns() ^ (uint64_t)getpid() << 32;
    return x;
}

struct ctl_session_config job_session_config(const struct swagg_job *job, const char *name,
                                             uint64_t join_within_ns)
{
    const struct client_options *o = &job->options;
    struct ctl_session_config config = {
        .rank = o->rank,
        .size = o->size,
        .incarnation = random_not_zero(),
        .join = {.root_here = o->one_switch},
        .worker = job->worker,
        .tells_finished = job_has_links(job),
        .join_deadline_ns = join_within_ns,
        .rejoin_deadline_ns = o->join_timeout_ns, /* whatever was left of it at first */
    };
    snprintf(config.join.name, sizeof config.join.name, "%s", name);
    return config;
}

static int join_group(struct transport *t, struct in_addr group, uint16_t port)
{
    return t->ops->join ? t->ops->join(t, group, port) : -EOPNOTSUPP;
}

void job_join_group(struct job_part *part)
{
    const struct swagg_job *job = part->job;
    int rc = 0;
    if (part->terms.group != 0)
        rc = join_group(part->transport, (struct in_addr){part->terms.group}, part->terms.group_port);
    if (rc < 0)
        logger_write(&job->options.log, SWAGG_LOG_INFO,
                     "job '%s': results come to rank %u one by one, not by a group: %s", job->options.job,
                     job->options.rank, strerror(-rc));
}

struct agg_stream_config job_stream_config(const struct job_part *part, const struct ctl_session *session,
                                           const struct keys_secret *shared)
{
    const struct swagg_job *job = part->job;
    return (struct agg_stream_config){.wishes = client_wishes(&job->options),
                                      .granted = &session->ready.terms,
                                      .shared = shared,
                                      .kernels = job->kernels,
                                      .job = session->ready.job,
                                      .data_ports = session->ready.data_ports,
                                      .chunk_bytes = job->terms.chunk_bytes};
}

static void report_part(struct job_part *part, uint32_t finished, uint64_t now)
{
    const struct swagg_job *job = part->job;
    const struct agg_worker *worker = job->worker;
    const bool waiting = (job->calling && worker->left(part->stream) > 0) || worker->buffered(part->stream);
    struct xfer_stats stats;
    worker->stats(part->stream, &stats);
    struct ctl_heartbeat progress = {.calls = worker->completed(part->stream),
                                     .waiting = waiting,
                                     .progress = worker->oldest(part->stream),
                                     .window = stats.window,
                                     .resumed = part->resumed,
                                     .retransmitted = stats.retransmitted,
                                     .tells_finished = job_has_links(job),
                                     .finished = finished};
    if (waiting)
        progress.stalled_ms = (uint32_t)(ns_between(worker->progress(part->stream), now) / NS_PER_MS);
    membership_progress(&part->membership, &progress, waiting && !part->rejoining);
}

void job_report(struct swagg_job *job, uint64_t now)
{
    const uint32_t finished = least_of_parts(job, job->worker->completed);
    for (unsigned i = 0; i < job->part_count; i++)
        report_part(&job->parts[i], finished, now);
}

int job_check_end(struct swagg_job *job)
{
    struct requests *q = &job->requests;
    char text[CTL_TEXT_MAX];
    if (job->failure || !atomic_load(&q->aborted))
        return job->failure;
    pthread_mutex_lock(&q->lock);
    const int status = q->abort_status;
    memcpy(text, q->abort_text, sizeof text);
    pthread_mutex_unlock(&q->lock);
    return job_fail_and_tell(job, status, job_reason_of(status), text);
}

void job_end(struct swagg_job *job, int status, const char *text)
{
    struct requests *q = &job->requests;
    pthread_mutex_lock(&q->lock);
    if (!atomic_load(&q->aborted)) {
        q->abort_status = status;
        strncpy(q->abort_text, text, sizeof q->abort_text - 1);
        atomic_store(&q->aborted, true);
    }
    pthread_mutex_unlock(&q->lock);
    waker_wake(&job->waker);
    pthread_mutex_lock(&job->lock);
    job_check_end(job);
    pthread_mutex_unlock(&job->lock);
}

int job_end_here(struct swagg_job *job)
{
    char text[CTL_TEXT_MAX];
    snprintf(text, sizeof text, "rank %u: %.*s", job->options.rank, CTL_TEXT_MAX - 16, swagg_last_error());
    job_end(job, SWAGG_ERR_SYSTEM, text);
    return requests_failure(&job->requests);
}

void job_cancel(struct swagg_job *job, const struct xfer_call *oldest)
{
    char call[DESCRIBE_CALL_MAX], text[CTL_TEXT_MAX];
    snprintf(text, sizeof text, "rank %u closed the job before %s, which it had posted, was complete",
             job->options.rank, describe_call(&job->options.names, oldest, call));
    job_end(job, SWAGG_ERR_ABORTED, text);
}

void swagg_abort(struct swagg_job *job, const char *why)
{
    char text[CTL_TEXT_MAX];
    if (!job || job->owner != getpid())
        return;
    snprintf(text, sizeof text, "rank %u aborted: %s", job->options.rank, why ? why : "no reason given");
    job_end(job, SWAGG_ERR_ABORTED, text);
}
