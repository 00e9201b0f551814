#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "describe.h"
#include "drive.h"
#include "key_file.h"
#include "monotonic.h"
#include "path.h"
#include "transport_udp.h"

enum {
    REFUSALS_ENOUGH = 3, /* so many times "port unreachable": the host answers, but no swagg runs on it */
    STREAM_ALIGNMENT = 64,
};

static int fail_no_answer(struct swagg_job *job, bool refused, int trouble)
{
    const char *ip = job->place->text;
    char text[DESCRIBE_TROUBLE_MAX];
    if (refused)
        return job_fail(job, SWAGG_ERR_NO_SWITCH,
                        "%s is there, but no swagg runs on it (UDP port %d is closed): check "
                        "the %s's address, start swagg",
                        ip, CTL_PORT, job->place->what);
    return job_fail(job, SWAGG_ERR_NO_SWITCH,
                    "nothing at %s answers on UDP port %d: check that swagg runs there (`ping %s`), that no "
                    "firewall drops UDP, and that this host's checksums are complete (veth: `ethtool -K "
                    "DEV tx off`)%s",
                    ip, CTL_PORT, ip, describe_trouble(trouble, text));
}

static int fail_socket(struct swagg_job *job, int error)
{
    const char *ip = job->place->text;
    if (error == ENETUNREACH || error == EHOSTUNREACH)
        return job_fail(job, SWAGG_ERR_NO_SWITCH, "there is no route to the %s %s: check `ip route get %s`",
                        job->place->what, ip, ip);
    return job_fail(job, SWAGG_ERR_SYSTEM, "cannot open a UDP socket to the %s %s: %s", job->place->what, ip,
                    strerror(error));
}

static int fail_blocked(struct swagg_job *job, const struct path *path)
{
    const struct agg_protocol *p = job->flow->protocol;
    const char *what = job->place->what;
    char text[DESCRIBE_TROUBLE_MAX];
    return job_fail(
        job, SWAGG_ERR_NO_SWITCH,
        "the %s %s answers on UDP port %d, but packets to its data port %u get no answer: open UDP "
        "ports %d to %d in both directions in the packet filters of this host, of the %s and between "
        "them; or is the %s older than this library (%s)?%s",
        what, job->place->text, CTL_PORT, path->blocked_port,
        p->udp_ports.first < CTL_PORT ? p->udp_ports.first : CTL_PORT,
        p->udp_ports.last > CTL_PORT ? p->udp_ports.last : CTL_PORT, what, what, swagg_version(),
        describe_trouble(path->trouble, text));
}

/* Finds the longest IP packet that gets to the switch and back, before this rank joins: its bytes, or a
 * status. */
static int find_mtu(struct swagg_job *job, uint64_t deadline)
{
    const struct client_options *o = &job->options;
    const struct path_wish wish = {.switch_ip = job->place->ip,
                                   .mtu = o->mtu,
                                   .checksum = o->checksum,
                                   .first_port = job->flow->protocol->udp_ports.first,
                                   .packet_bytes = job->flow->packet_bytes,
                                   .patience = o->answer_timeout_ns,
                                   .deadline = deadline};
    struct path path;
    int rc = path_find(&path, &wish);
    if (rc < 0)
        return fail_socket(job, -rc);
    if (path.state == PATH_BLOCKED)
        return fail_blocked(job, &path);
    if (path.state != PATH_OPEN)
        return fail_no_answer(job, path.state == PATH_NO_SWITCH, path.trouble);
    return (int)path.mtu;
}

static int open_transport(struct swagg_job *job, uint64_t deadline)
{
    const struct client_options *o = &job->options;
    int mtu = find_mtu(job, deadline);
    if (mtu < 0)
        return mtu;
    const struct transport_udp_config config = {.switch_ip = job->place->ip,
                                                .port = job->flow->protocol->udp_ports.first,
                                                .key = job->flow->protocol->shard_key,
                                                .mark = job->flow->protocol->mark,
                                                .note_group = job->flow->protocol->note_group,
                                                .mtu = (unsigned)mtu,
                                                .packet_max =
                                                    job->flow->packet_bytes((unsigned)mtu, o->checksum),
                                                .checksum = o->checksum};
    int rc = transport_udp_open(&job->transport, &config);
    return rc < 0 ? fail_socket(job, -rc) : SWAGG_OK;
}

static uint64_t random_not_zero(void)
{
    uint64_t x = 0;
    while (x == 0)
        if (getrandom(&x, sizeof x, 0) < 0)
            x = monotonic_ns() ^ (uint64_t)getpid() << 32;
    return x;
}

/* The key to join with. 1: there is one; 0: none; or the job's failure. */
static int read_key(struct swagg_job *job, struct keys_key *key)
{
    struct key_file file;
    char why[KEY_FILE_WHY_MAX];
    if (job->options.key_file[0] == '\0')
        return 0;
    if (key_file_read(&file, job->options.key_file, why) < 0)
        return job_fail(job, SWAGG_ERR_ARGUMENT, "options.key_file: %s", why);
    *key = file.key[0];
    keys_erase(&file, sizeof file);
    return 1;
}

static int open_control(struct swagg_job *job, uint64_t deadline)
{
    const struct client_options *o = &job->options;
    struct keys_key key;
    int keys = read_key(job, &key);
    if (keys < 0)
        return keys;
    struct ctl_session_config config = {
        .rank = o->rank,
        .size = o->size,
        .incarnation = random_not_zero(),
        .join =
            {
                .data_port = job->transport->local_port,
                .root_here = job->options.one_switch,
                .terms = job->flow->wish(o, job->transport->mtu, keys),
            },
        .worker = job->flow->worker,
        .join_deadline_ns = ns_between(monotonic_ns(), deadline),
    };
    if (o->compression.on && client_chunk_bytes(job->transport->mtu, o->checksum) < SML_LOOK_UP_CHUNK_MIN)
        return job_fail(
            job, SWAGG_ERR_ARGUMENT,
            "options.compression takes packets of %d bytes at least, the path carries %u: raise its MTU or "
            "options.mtu",
            CLIENT_MTU_MIN + SML_LOOK_UP_CHUNK_MIN - SML_MIN_CHUNK_BYTES, job->transport->mtu);
    memcpy(config.join.name, o->job, sizeof config.join.name);
    struct membership_guest guest = {
        .fd = job->transport->socket.fd, .turn = drive_between_calls, .ctx = job};
    const struct membership_parts parts = {.switch_ip = job->place->ip,
                                           .config = &config,
                                           .key = keys ? &key : NULL,
                                           .flow = job->flow,
                                           .log = &o->log,
                                           .guest = guest};
    int rc = membership_open(&job->membership, &parts);
    keys_erase(&key, sizeof key);
    if (rc < 0)
        return job_fail(job, SWAGG_ERR_SYSTEM, "cannot start the job's membership thread: %s", strerror(-rc));
    job->membership_is_open = true;
    return SWAGG_OK;
}

/* Somebody answers, but does not show that he has the key. */
static int fail_unproven(struct swagg_job *job, const struct ctl_session *s)
{
    return job_fail(job, SWAGG_ERR_REFUSED,
                    "%s answers, but does not show that it has the key in %s: is that file a key_file of its "
                    "configuration (tenants)?%s%s",
                    job->place->text, job->options.key_file,
                    s->hint.text[0] ? " The last answer, which anybody may have sent: " : "", s->hint.text);
}

/* A switch that is there answers every JOIN. */
static uint64_t answer_due(const struct swagg_job *job, const struct ctl_session *s)
{
    return s->started + job->options.answer_timeout_ns;
}

enum { STILL_JOINING = 1 };

static int join_status(struct swagg_job *job, const struct ctl_session *s, unsigned refused, uint64_t now)
{
    bool answered = s->boot_id != 0;
    if (s->state == CTL_SESSION_READY)
        return SWAGG_OK;
    if (membership_fds_are_closed(&job->membership))
        return job_fail_fds_closed(job, "control descriptors");
    if (!answered && refused >= REFUSALS_ENOUGH)
        return fail_no_answer(job, true, 0);
    if (!answered && s->unproven > 0 && (s->state == CTL_SESSION_FAILED || now >= answer_due(job, s)))
        return fail_unproven(job, s);
    if (!answered && (s->state == CTL_SESSION_FAILED || now >= answer_due(job, s)))
        return fail_no_answer(job, false, membership_trouble(&job->membership));
    return s->state == CTL_SESSION_FAILED ? job_fail_session(job, s) : STILL_JOINING;
}

static void warn_who_is_missing(struct swagg_job *job, const struct ctl_session *s, uint64_t now)
{
    char ranks[CTL_RANKS_TEXT_MAX];
    if (ctl_ranks_count(&s->pending.missing) > 0)
        logger_write(&job->options.log, SWAGG_LOG_WARN, "job '%s': waiting for %s to %s, for %.1f s now",
                     job->options.job, ctl_ranks_text(&s->pending.missing, ranks),
                     s->pending.occupied ? "leave an earlier job of this name" : "join",
                     (double)(now - s->started) / NS_PER_S);
}

static int wait_until_all_are_there(struct swagg_job *job, struct ctl_session *s)
{
    uint64_t pause = job->options.warn_after_ns, warn_at = monotonic_ns() + pause;
    for (;;) {
        membership_look(&job->membership, s);
        uint64_t now = monotonic_ns();
        int rc = join_status(job, s, membership_refusals(&job->membership), now);
        if (rc != STILL_JOINING)
            return rc;
        if (now >= warn_at) {
            warn_who_is_missing(job, s, now);
            pause *= 2;
            warn_at = now + pause;
        }
        membership_wait(&job->membership,
                        s->boot_id == 0 && answer_due(job, s) < warn_at ? answer_due(job, s) : warn_at);
    }
}

static int open_stream(struct swagg_job *job, const struct ctl_session *session)
{
    const struct keys_shared shared = ctl_session_shared(session);
    const struct flow_config config = job_flow_config(job, session, &shared);
    size_t bytes = job->flow->footprint(&config);
    if (bytes == 0)
        return job_fail(job, SWAGG_ERR_REFUSED, "the %s's terms make no sense: %u slots of %u bytes",
                        job->place->what, job->terms.slots, job->terms.chunk_bytes);
    job->stream_memory =
        aligned_alloc(STREAM_ALIGNMENT, (bytes + STREAM_ALIGNMENT - 1) / STREAM_ALIGNMENT * STREAM_ALIGNMENT);
    if (!job->stream_memory)
        return job_fail(job, SWAGG_ERR_SYSTEM, "no memory: %zu bytes", bytes);
    job->stream = job->flow->init(job->stream_memory, &config);
    return SWAGG_OK;
}

/* Where this host cannot hear the group, the server notices, and sends it results of its own. */
static void join_group(struct swagg_job *job)
{
    int rc = 0;
    if (job->terms.group.s_addr != 0)
        rc = job->transport->ops->join(job->transport, job->terms.group, job->terms.group_port);
    if (rc < 0)
        logger_write(&job->options.log, SWAGG_LOG_INFO,
                     "job '%s': results come to rank %u one by one, not by a group: %s", job->options.job,
                     job->options.rank, strerror(-rc));
}

static int open_all(struct swagg_job *job)
{
    uint64_t deadline = monotonic_ns() + job->options.join_timeout_ns;
    struct ctl_session session;
    int rc;
    if ((rc = open_transport(job, deadline)) < 0 || (rc = open_control(job, deadline)) < 0 ||
        (rc = wait_until_all_are_there(job, &session)) < 0 || (rc = job_adopt_terms(job, &session)) < 0)
        return rc;
    join_group(job);
    if ((rc = open_stream(job, &session)) == SWAGG_OK)
        job_show(job);
    return rc;
}

/* Opens the job by one protocol, within join_timeout_ns of the options. *reason: why the switch has refused
 * it. */
static int open_job(struct swagg_job **out, const struct client_options *options, bool by_atp,
                    enum ctl_reason *reason)
{
    struct swagg_job *job = calloc(1, sizeof *job);
    *reason = CTL_OK;
    if (!job || waits_open(&job->waits, options->size) < 0) {
        free(job);
        return client_fail(SWAGG_ERR_SYSTEM, "no memory: %zu bytes", sizeof *job);
    }
    job->options = *options;
    job->flow = by_atp ? &flow_atp : &flow_switchml;
    job->place = by_atp ? &job->options.in_server : &job->options.in_switch;
    job->kernels = agg_kernels_best();
    compress_open(&job->compress, &job->options, job->kernels);
    job->owner = getpid();
    pthread_mutex_init(&job->lock, NULL);
    pthread_mutex_init(&job->shown.lock, NULL);
    pthread_mutex_lock(&job->lock);
    int rc = open_all(job);
    *reason = job->reason; /* the membership thread may set it from here on */
    pthread_mutex_unlock(&job->lock);
    if (rc == 0)
        *out = job;
    else
        swagg_close(job);
    return rc;
}

/* The switch had no slots when all ranks were there, and has told all of them so: they all go on by ATP. */
static int open_instead(struct swagg_job **out, const struct client_options *options, uint64_t began)
{
    struct client_options rest = *options;
    enum ctl_reason reason;
    const uint64_t taken = monotonic_ns() - began;
    logger_write(&rest.log, SWAGG_LOG_INFO, "job '%s': goes by ATP, parameter server %s: %s", rest.job,
                 rest.in_server.text, swagg_last_error());
    rest.join_timeout_ns -= taken < rest.join_timeout_ns ? taken : rest.join_timeout_ns;
    return open_job(out, &rest, true, &reason);
}

int swagg_open(struct swagg_job **out, const struct swagg_options *options)
{
    if (!out)
        return client_fail(SWAGG_ERR_ARGUMENT, "job is NULL");
    *out = NULL;
    struct client_options resolved;
    int rc = client_options_resolve(&resolved, options);
    if (rc < 0)
        return rc;
    const uint64_t began = monotonic_ns();
    enum ctl_reason reason;
    rc = open_job(out, &resolved, resolved.protocol == SWAGG_PROTOCOL_ATP, &reason);
    if (rc == SWAGG_ERR_REFUSED && resolved.protocol == SWAGG_PROTOCOL_AUTO && reason == CTL_NO_SLOTS)
        rc = open_instead(out, &resolved, began);
    return rc;
}
