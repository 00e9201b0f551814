/* How a job comes to be, and how it ends. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "await.h"
#include "drive.h"
#include "kernels_chosen.h"
#include "key_file.h"
#include "lanes.h"
#include "local/level.h"
#include "monotonic.h"
#include "open.h"
#include "path.h"
#include "rates.h"
#include "sodium_keys.h"
#include "standby.h"
#include "switchml/elements.h"
#include "switchml/worker.h"

enum {
    STREAM_ALIGNMENT = 64,
};

/* trouble: errno of the newest failure to send or receive. ECONNREFUSED is ICMP's "port unreachable": the
 * host is there. It is no reason to wait less: anybody may have sent it, or the switch restarts just now. */
static int fail_no_answer(const struct job_part *part, int trouble)
{
    struct swagg_job *job = part->job;
    const char *ip = part->node->text;
    char text[DESCRIBE_TROUBLE_MAX];
    if (trouble == ECONNREFUSED)
        return job_fail(job, SWAGG_ERR_NO_SWITCH,
                        "%s is there, but no swagg runs on it (UDP port %d is closed): check "
                        "the %s's address, start swagg",
                        ip, CTL_PORT, part->node->what);
    return job_fail(job, SWAGG_ERR_NO_SWITCH,
                    "nothing at %s answers on UDP port %d: check that swagg runs there (`ping %s`), that no "
                    "firewall drops UDP, and that this host's checksums are complete (veth: `ethtool -K "
                    "DEV tx off`)%s",
                    ip, CTL_PORT, ip, describe_trouble(trouble, text));
}

static int fail_socket(const struct job_part *part, int error)
{
    struct swagg_job *job = part->job;
    const char *ip = part->node->text;
    if (error == ENETUNREACH || error == EHOSTUNREACH)
        return job_fail(job, SWAGG_ERR_NO_SWITCH, "there is no route to the %s %s: check `ip route get %s`",
                        part->node->what, ip, ip);
    return job_fail(job, SWAGG_ERR_SYSTEM, "cannot open a UDP socket to the %s %s: %s", part->node->what, ip,
                    strerror(error));
}

static int fail_blocked(const struct job_part *part, const struct path *path)
{
    struct swagg_job *job = part->job;
    const struct agg_protocol *p = job->protocol;
    const char *what = part->node->what;
    char text[DESCRIBE_TROUBLE_MAX];
    return job_fail(
        job, SWAGG_ERR_NO_SWITCH,
        "the %s %s answers on UDP port %d, but packets to its data port %u get no answer: open UDP "
        "ports %d to %d in both directions in the packet filters of this host, of the %s and between "
        "them; or is the %s older than this library (%s)?%s",
        what, part->node->text, CTL_PORT, path->blocked_port,
        p->udp_ports.first < CTL_PORT ? p->udp_ports.first : CTL_PORT,
        p->udp_ports.last > CTL_PORT ? p->udp_ports.last : CTL_PORT, what, what, swagg_version(),
        describe_trouble(path->trouble, text));
}

/* Finds the longest IP packet that gets to the switch and back, before this rank joins: its bytes, or a
 * status. */
static int find_mtu(struct job_part *part, uint64_t deadline)
{
    const struct swagg_job *job = part->job;
    const struct client_options *o = &job->options;
    const struct path_wish wish = {.network = job->network,
                                   .switch_ip = part->node->ip,
                                   .mtu = o->mtu,
                                   .checksum = o->checksum,
                                   .first_port = job->protocol->udp_ports.first,
                                   .packet_bytes = job->worker->packet_bytes,
                                   .patience = o->answer_timeout_ns,
                                   .deadline = deadline};
    struct path path;
    int rc = path_find(&path, &wish);
    if (rc < 0)
        return fail_socket(part, -rc);
    if (path.state == PATH_BLOCKED)
        return fail_blocked(part, &path);
    if (path.state != PATH_OPEN)
        return fail_no_answer(part, path.trouble);
    return (int)path.mtu;
}

static int join_find(struct job_part *part, uint64_t deadline)
{
    int mtu = find_mtu(part, deadline);
    if (mtu < 0)
        return mtu;
    char why[NETWORK_WORDS];
    int rc = job_open_transport(part, part->node, (unsigned)mtu, &part->transport, why);
    if (rc < 0 && why[0])
        return job_fail(part->job, SWAGG_ERR_SYSTEM, "options.transport: %s", why);
    return rc < 0 ? fail_socket(part, -rc) : SWAGG_OK;
}

/* The key to join with. 1: there is one; 0: none; or the job's failure. */
static int read_key(struct swagg_job *job, struct keys_key *key)
{
    struct key_file file;
    char why[KEY_FILE_WHY_MAX];
    if (job->options.key_file[0] == '\0')
        return 0;
    if (key_file_read(&file, job->options.key_file, why) < 0)
        return job_fail(job, SWAGG_ERR_ARGUMENT, "options.key_file (SWAGG_KEY_FILE): %s", why);
    *key = file.key[0];
    keys_erase(&file, sizeof file);
    return 1;
}

static void hear(void *ctx, enum membership_news news, const struct ctl_session *session)
{
    job_hear(ctx, news, session);
}

/* Where one switch may go on for another, packets are no longer than either path takes. */
static unsigned shared_mtu(const struct job_part *part)
{
    const struct swagg_job *job = part->job;
    unsigned mtu = part->transport->mtu;
    for (unsigned i = 0; i < job->part_count && job->worker->move; i++)
        if (job->parts[i].transport->mtu < mtu)
            mtu = job->parts[i].transport->mtu;
    return mtu;
}

static int join_begin(struct job_part *part, uint64_t deadline)
{
    struct swagg_job *job = part->job;
    const struct client_options *o = &job->options;
    struct keys_key key;
    int keys = read_key(job, &key);
    if (keys < 0)
        return keys;
    struct agg_wishes wishes = client_wishes(o);
    wishes.lanes = (uint8_t)lanes_wished(job);
    struct ctl_session_config config = job_session_config(job, o->job, ns_between(monotonic_ns(), deadline));
    config.join.data_port = part->transport->local_port;
    config.join.queue_pair = part->transport->queue_pair;
    config.join.terms = job->worker->wish(&wishes, part->index, shared_mtu(part), keys);
    if (o->compression.on &&
        sml_worker_chunk_bytes(part->transport->mtu, o->checksum) < SML_LOOK_UP_CHUNK_MIN)
        return job_fail(
            job, SWAGG_ERR_ARGUMENT,
            "options.compression takes packets of %d bytes at least, the path carries %u: raise its MTU or "
            "options.mtu",
            CLIENT_MTU_MIN + SML_LOOK_UP_CHUNK_MIN - SML_MIN_CHUNK_BYTES, part->transport->mtu);
    struct membership_guest guest = {
        .fd = part->transport->socket.fd, .turn = drive_between_calls, .ctx = part};
    const struct membership_parts parts = {.network = job->network,
                                           .node = part->node,
                                           .config = &config,
                                           .key = keys ? &key : NULL,
                                           .worker = job->worker,
                                           .log = &o->log,
                                           .guest = guest,
                                           .hearer = {hear, part},
                                           .wake_caller = &job->waker};
    int rc = membership_open(&part->membership, &parts);
    keys_erase(&key, sizeof key);
    if (rc < 0)
        return job_fail(job, SWAGG_ERR_SYSTEM, "cannot start the job's membership thread: %s", strerror(-rc));
    part->membership_is_open = true;
    return SWAGG_OK;
}

/* Somebody answers, but does not show that he has the key. */
static int fail_unproven(const struct job_part *part, const struct ctl_session *s)
{
    struct swagg_job *job = part->job;
    return job_fail(job, SWAGG_ERR_REFUSED,
                    "%s answers, but does not show that it has the key in %s: is that file a key_file of its "
                    "configuration (tenants)?%s%s",
                    part->node->text, job->options.key_file,
                    s->hint.text[0] ? " The last answer, which anybody may have sent: " : "", s->hint.text);
}

/* A switch that is there answers every JOIN. */
static uint64_t answer_due(const struct swagg_job *job, const struct ctl_session *s)
{
    return s->started + job->options.answer_timeout_ns;
}

static bool is_answered(const struct ctl_session *s)
{
    return s->boot_id != 0;
}

static bool is_overdue(const struct swagg_job *job, const struct ctl_session *s, uint64_t now)
{
    return !is_answered(s) && now >= answer_due(job, s);
}

/* Before an answer is missed, it is looked for where it would be: if this process stood still, nobody has. */
static void look_at_part(struct job_part *part, struct ctl_session *s, uint64_t now)
{
    membership_look(&part->membership, s);
    if (is_overdue(part->job, s, now))
        membership_hear(&part->membership, s);
}

enum { STILL_JOINING = 1 };

static int join_status(struct job_part *part, const struct ctl_session *s, uint64_t now)
{
    struct swagg_job *job = part->job;
    const bool gives_up = s->state == CTL_SESSION_FAILED || is_overdue(job, s, now);
    if (s->state == CTL_SESSION_READY)
        return SWAGG_OK;
    if (membership_fds_are_closed(&part->membership))
        return job_fail_fds_closed(job, "control descriptors");
    if (gives_up && !is_answered(s) && s->unproven > 0)
        return fail_unproven(part, s);
    if (gives_up && !is_answered(s))
        return fail_no_answer(part, membership_trouble(&part->membership));
    return s->state == CTL_SESSION_FAILED ? job_fail_session(part, s) : STILL_JOINING;
}

static void warn_who_is_missing(const struct job_part *part, const struct ctl_session *s, uint64_t now)
{
    const struct swagg_job *job = part->job;
    char ranks[CTL_RANKS_TEXT_MAX], name[PART_NAME_MAX];
    if (s->state == CTL_SESSION_JOINING && ctl_ranks_count(&s->pending.missing) > 0)
        logger_write(&job->options.log, SWAGG_LOG_WARN,
                     "job '%s': waiting for %s to %s%s, for %.1f s now%s%s", job->options.job,
                     ctl_ranks_text(&s->pending.missing, ranks),
                     s->pending.occupied ? "leave an earlier job of this name" : "join",
                     part_name(part, name), (double)(now - s->started) / NS_PER_SECOND,
                     ctl_pending_because(&s->pending), s->pending.turned_away.text);
}

/* 0: all ranks have joined at all nodes; STILL_JOINING, and when somebody is late to answer; or a failure.
 */
static int all_status(struct swagg_job *job, struct ctl_session sessions[], uint64_t now, uint64_t *due)
{
    int all = SWAGG_OK;
    for (unsigned i = 0; i < job->part_count; i++) {
        struct ctl_session *s = &sessions[i];
        look_at_part(&job->parts[i], s, now);
        const int rc = join_status(&job->parts[i], s, now);
        if (rc < 0)
            return rc;
        all = rc == STILL_JOINING ? rc : all;
        if (!is_answered(s) && answer_due(job, s) < *due)
            *due = answer_due(job, s);
    }
    return all;
}

static int join_wait(struct swagg_job *job, struct ctl_session sessions[])
{
    uint64_t pause = job->options.warn_after_ns, warn_at = monotonic_ns() + pause;
    for (;;) {
        uint64_t now = monotonic_ns(), until = warn_at;
        const int rc = all_status(job, sessions, now, &until);
        if (rc != STILL_JOINING)
            return rc;
        if (now >= warn_at) {
            for (unsigned i = 0; i < job->part_count; i++)
                warn_who_is_missing(&job->parts[i], &sessions[i], now);
            pause *= 2;
            warn_at = now + pause;
        }
        waker_wait(&job->waker, until > now ? until : warn_at);
    }
}

static int join_finish(struct job_part *part, const struct ctl_session *session)
{
    struct swagg_job *job = part->job;
    const struct keys_secret shared = ctl_session_shared(session);
    const struct agg_stream_config config = job_stream_config(part, session, &shared);
    job_join_group(part);
    size_t bytes = job->worker->footprint(&config);
    if (bytes == 0)
        return job_fail(job, SWAGG_ERR_REFUSED, "the %s's terms make no sense: %u slots of %u bytes",
                        part->node->what, part->terms.slots, part->terms.chunk_bytes);
    part->stream_memory =
        aligned_alloc(STREAM_ALIGNMENT, (bytes + STREAM_ALIGNMENT - 1) / STREAM_ALIGNMENT * STREAM_ALIGNMENT);
    if (!part->stream_memory)
        return job_fail(job, SWAGG_ERR_SYSTEM, "no memory: %zu bytes", bytes);
    part->stream = job->worker->init(part->stream_memory, &config);
    return SWAGG_OK;
}

static int for_all_parts(struct swagg_job *job, int (*step)(struct job_part *part, uint64_t deadline),
                         uint64_t deadline)
{
    int rc = SWAGG_OK;
    for (unsigned i = 0; i < job->part_count && rc == SWAGG_OK; i++)
        rc = step(&job->parts[i], deadline);
    return rc;
}

/* What follows once all ranks have joined. */
static int open_streams(struct swagg_job *job, const struct ctl_session sessions[])
{
    int rc = SWAGG_OK;
    for (unsigned i = 0; i < job->part_count && rc == SWAGG_OK; i++)
        rc = job_adopt_terms(&job->parts[i], &sessions[i]);
    for (unsigned i = 0; i < job->part_count && rc == SWAGG_OK; i++)
        rc = join_finish(&job->parts[i], &sessions[i]);
    return rc;
}

static int open_all(struct swagg_job *job, uint64_t deadline)
{
    const size_t bytes = job->part_count * sizeof(struct ctl_session);
    struct ctl_session *sessions = malloc(bytes);
    int rc;
    if (!sessions)
        return job_fail(job, SWAGG_ERR_SYSTEM, "no memory: %zu bytes", bytes);
    if ((rc = for_all_parts(job, join_find, deadline)) == SWAGG_OK &&
        (rc = for_all_parts(job, join_begin, deadline)) == SWAGG_OK &&
        (rc = join_wait(job, sessions)) == SWAGG_OK && (rc = open_streams(job, sessions)) == SWAGG_OK) {
        rates_open(job);
        job_show(job);
    }
    keys_erase(sessions, bytes);
    free(sessions);
    return rc;
}

/* The job with its parts, of which none is open; NULL: there is no memory. */
static struct swagg_job *make_job(const struct client_options *options, const struct agg_protocol *protocol,
                                  const struct agg_kernels *kernels)
{
    struct swagg_job *job = calloc(1, sizeof *job);
    if (!job)
        return NULL;
    job->options = *options;
    job->protocol = protocol;
    job->worker = protocol->worker;
    const struct client_nodes *nodes =
        job->worker->at_servers ? &job->options.in_servers : &job->options.in_switch;
    job->part_count = nodes->n;
    job->parts = calloc(nodes->n + 1, sizeof *job->parts);
    if (!job->parts || waits_open(&job->waits, options->size) < 0 ||
        waits_open(&job->local_waits, options->size) < 0) {
        waits_close(&job->waits);
        waits_close(&job->local_waits);
        free(job->parts);
        free(job);
        return NULL;
    }
    for (unsigned i = 0; i < job->part_count; i++)
        job->parts[i] = (struct job_part){.job = job, .index = i, .node = &nodes->at[i]};
    links_init(&job->links, job->part_count, job->options.link_timeout_ns);
    job->kernels = kernels;
    job->owner = getpid();
    job->waker = WAKER_NONE;
    events_open(&job->events);
    requests_open(&job->requests);
    gpu_open(&job->gpu, job->options.gpu_driver[0] ? job->options.gpu_driver : NULL);
    compress_open(&job->compress, &job->options, job->kernels);
    pthread_mutex_init(&job->lock, NULL);
    pthread_mutex_init(&job->between, NULL);
    pthread_mutex_init(&job->shown.lock, NULL);
    return job;
}

static int find_network(struct swagg_job *job)
{
    char why[NETWORK_WORDS];
    const int rc = network_open(&job->network, &job->options, why);
    return rc < 0 ? job_fail(job, SWAGG_ERR_SYSTEM, "options.transport: %s", why) : SWAGG_OK;
}

static int start_progress_thread(struct swagg_job *job)
{
    const int rc = await_start_thread(job);
    return rc < 0
               ? job_fail(job, SWAGG_ERR_SYSTEM, "cannot start the job's progress thread: %s", strerror(-rc))
               : SWAGG_OK;
}

int open_job(struct swagg_job **out, const struct client_options *options,
             const struct agg_protocol *protocol, uint64_t deadline, enum ctl_reason *reason)
{
    char why[KERNELS_WHY];
    const struct agg_kernels *kernels = kernels_chosen(why);
    *reason = CTL_OK;
    if (!kernels)
        return client_fail(SWAGG_ERR_ARGUMENT, "%s", why);
    struct swagg_job *job = make_job(options, protocol, kernels);
    if (!job)
        return client_fail(SWAGG_ERR_SYSTEM, "no memory for a job");
    pthread_mutex_lock(&job->lock);
    atomic_store(&job->busy, true);
    int rc = waker_open(&job->waker);
    rc = rc < 0 ? job_fail(job, SWAGG_ERR_SYSTEM, "no pipe: %s", strerror(-rc)) : find_network(job);
    if (rc == SWAGG_OK)
        rc = open_all(job, deadline);
    if (rc == SWAGG_OK && job->options.progress_thread && job->part_count > 0)
        rc = start_progress_thread(job);
    *reason = job->reason; /* the membership thread may set it from here on */
    atomic_store(&job->busy, false);
    pthread_mutex_unlock(&job->lock);
    if (rc == 0)
        *out = job;
    else
        swagg_close(job);
    return rc;
}

enum { LEAVE_WITHIN_MS = 1000, LOOK_EVERY_MS = 10 };

/* Calls in flight are given up: the peers are told which. */
static void cancel(struct swagg_job *job)
{
    const struct swagg_request *oldest = requests_first(&job->requests);
    if (oldest)
        job_cancel(job, &oldest->call);
}

/* Buffered reduces still need this rank. If one fails, only the log can tell: there is no later call. */
static void complete_reduces(struct swagg_job *job)
{
    drive_lock(job);
    if (!job->failure && parts_buffered(job) && drive_buffered(job) < 0)
        logger_write(&job->options.log, SWAGG_LOG_ERROR, "%s", job->failure_text);
    drive_unlock(job);
}

/* Others may lack of the last call what this rank has, if a link fails now. Returns whether nobody does. */
static bool await_all(struct swagg_job *job)
{
    if (!job_has_links(job))
        return false;
    drive_lock(job);
    const bool through = !job->failure && drive_to_the_end(job);
    drive_unlock(job);
    return through;
}

/* Waits while this holds of any part, at most until then. */
static void wait_while(struct swagg_job *job, bool (*holds)(struct job_part *part), uint64_t until)
{
    for (unsigned i = 0; i < job->part_count; i++)
        while (holds(&job->parts[i]) && monotonic_ns() < until)
            waker_wait(&job->waker, monotonic_ns() + LOOK_EVERY_MS * NS_PER_MS);
}

static bool is_aborting(struct job_part *part)
{
    return part->membership_is_open && membership_is_aborting(&part->membership);
}

static bool is_leaving(struct job_part *part)
{
    return part->membership_is_open && membership_is_leaving(&part->membership);
}

/* Others may still need what this rank holds, if the switch has just restarted. */
static void leave(struct swagg_job *job)
{
    const bool is_whole = job->part_count > 0 && job->parts[job->part_count - 1].stream != NULL;
    bool through = false;
    if (is_whole) {
        await_stop_thread(job);
        cancel(job);
        complete_reduces(job);
        through = await_all(job);
    }
    const uint64_t until = monotonic_ns() + LEAVE_WITHIN_MS * NS_PER_MS;
    if (is_whole && !through)
        wait_while(job, drive_is_needed, until);
    /* An abort is repeated until the switch has heard it; LEAVE would end that, or overtake it, and the peers
     * would hear that this rank left, and not why. */
    wait_while(job, is_aborting, until);
    for (unsigned i = 0; i < job->part_count; i++)
        if (job->parts[i].membership_is_open)
            membership_leave(&job->parts[i].membership);
    wait_while(job, is_leaving, until);
}

/* A part's thread looks at all parts: what it may find of them stays until none of these threads is left. */
static void stop_threads(struct swagg_job *job)
{
    for (unsigned i = 0; i < job->part_count; i++)
        if (job->parts[i].membership_is_open)
            membership_stop(&job->parts[i].membership);
}

static void close_part(struct job_part *part)
{
    if (part->membership_is_open && part->job->owner == getpid())
        membership_close(&part->membership);
    else if (part->membership_is_open)
        membership_abandon(&part->membership);
    if (part->transport)
        part->transport->ops->close(part->transport);
    free(part->stream_memory);
}

void open_close_lanes(struct lanes *l)
{
    for (unsigned i = 0; i < l->n; i++)
        swagg_close(l->lane[i]);
    pthread_mutex_destroy(&l->order);
    free(l);
}

void swagg_close(struct swagg_job *job)
{
    if (!job)
        return;
    const bool is_own = job->owner == getpid(); /* else locks may be held by threads that are not here */
    level_leave(job); /* others hear that this rank has left from the board, before the switch tells them */
    swagg_close(job->rail);
    struct lanes *lanes = job->lanes;
    if (lanes && is_own)
        lanes_begin(job, NULL);
    if (lanes)
        open_close_lanes(lanes);
    level_free(job->level);
    if (is_own) {
        leave(job);
        stop_threads(job);
    }
    standby_close(job);
    for (unsigned i = 0; i < job->part_count; i++)
        close_part(&job->parts[i]);
    if (job->network)
        job->network->ops->close(job->network);
    waker_close(&job->waker);
    free(job->parts);
    pthread_mutex_destroy(&job->lock);
    pthread_mutex_destroy(&job->between);
    pthread_mutex_destroy(&job->shown.lock);
    waits_close(&job->waits);
    waits_close(&job->local_waits);
    events_close(&job->events);
    compress_close(&job->compress);
    if (is_own) {
        requests_close(&job->requests);
        gpu_close(&job->gpu);
    } else {
        requests_abandon(&job->requests);
    }
    free(job);
}

int swagg_on_event(struct swagg_job *job, void (*event)(void *ctx, const struct swagg_event *event),
                   void *ctx)
{
    if (!job || job->owner != getpid())
        return client_fail(SWAGG_ERR_ARGUMENT, job ? "the job is another process's" : "job is NULL");
    events_on(&job->events, event, ctx);
    return SWAGG_OK;
}
