#include "shard.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/log.h"
#include "base/secret.h"
#include "carry.h"
#include "ecn.h"
#include "monotonic.h"
#include "protocol/heard.h"
#include "protocols.h"

enum { TICK_NS = 1000000, SOCKET_BUFFER = 16 << 20 };

struct shard_buffers {
    size_t room; /* of a packet, with a byte more than any may have */
    struct mmsghdr message[SHARD_BURST];
    struct iovec iov[SHARD_BURST];
    struct sockaddr_in from[SHARD_BURST];
    _Alignas(struct cmsghdr) char control[SHARD_BURST][CMSG_SPACE(sizeof(int))];
    uint8_t *payload;
};

const char *shard_count_name(enum shard_count count)
{
    static const char *const names[SHARD_COUNT_KINDS] = {
#define NAME(identifier, name, meaning) [SHARD_##identifier] = name,
        SHARD_COUNTS(NAME)
#undef NAME
    };

    return names[count];
}

static void count(struct shard *s, enum shard_count what, unsigned n)
{
    counter_add(&s->count[what], n);
}

/* --- receiving ---------------------------------------------------------------------------------------------
 */

static struct agg_packet present(struct shard_buffers *b, unsigned i, const struct agg_protocol *table)
{
    const struct sockaddr_in *from = &b->from[i];
    struct agg_packet p = {.payload = b->payload + i * b->room,
                           .bytes = b->message[i].msg_len,
                           .from = {.ip = from->sin_addr.s_addr, .port = from->sin_port}};

    if (table->mark != NULL && ecn_is_marked(&b->message[i].msg_hdr))
        table->mark(p.payload, p.bytes);
    return p;
}

static void send_to(struct shard *s, const struct shard_source *source, const struct sockaddr_in *to,
                    const void *payload, size_t bytes, enum shard_count as)
{
    const bool sent = sendto(source->fd, payload, bytes, MSG_DONTWAIT, (const struct sockaddr *)to,
                             sizeof(*to)) == (ssize_t)bytes;

    count(s, sent ? as : SHARD_LOST_SENDING, 1);
}

/* A packet of no job: path probes are answered, others told that there is no such job. */
static void refuse(struct shard *s, const struct shard_source *source, const struct agg_packet *p,
                   const struct sockaddr_in *from, uint64_t now)
{
    uint8_t answer[AGG_ANSWER_BYTES];
    size_t bytes;

    switch (strangers_answer(&s->strangers, source->table, p, now, answer, &bytes)) {
    case STRANGERS_PATH:
        send_to(s, source, from, p->payload, bytes, SHARD_PATH_ANSWERS);
        return;
    case STRANGERS_PATH_RATE:
        count(s, SHARD_STRANGERS_RATE, 1);
        return;
    case STRANGERS_REJECT:
        send_to(s, source, from, answer, bytes, SHARD_REJECTS);
        break;
    case STRANGERS_REJECT_RATE:
        count(s, SHARD_STRANGERS_RATE, 1);
        break;
    case STRANGERS_SILENT:
        break;
    }
    counter_add(&s->verdict[source->table->id][p->reason], 1);
}

/* Applies packets that have been located, and sends what they ask for. */
static void apply(struct shard *s, const struct shard_source *source, struct agg_packet p[], unsigned n,
                  uint64_t now)
{
    struct agg_verdict v;

    for (unsigned done = 0; done < n;) {
        done += source->table->apply(p + done, n - done, now, &v);
        const struct carry_out out = {.fd = source->fd, .job = p[done - 1].job, .answered = &p[done - 1]};
        const struct carried carried = carry(&out, &v);

        count(s, SHARD_SENT, carried.sent);
        count(s, SHARD_LOST_SENDING, carried.lost);
    }
    for (unsigned i = 0; i < n; i++) {
        counter_add(&s->verdict[source->table->id][p[i].reason], 1);
        agg_heard_packet(&p[i], source->table->reason[p[i].reason].action);
    }
}

/* Whose slots these are: another port's packets must not touch them. */
static bool is_ours(const struct shard *s, const struct agg_protocol *table, const struct agg_packet *p)
{
    return agg_shard_key(&table->shard_key, p->payload, p->bytes) % s->jobs->threads == s->number;
}

static void handle(struct shard *s, const struct shard_source *source, unsigned n)
{
    const uint64_t now = monotonic_ns();
    struct agg_packet p[SHARD_BURST];
    unsigned ours = 0;

    for (unsigned i = 0; i < n; i++)
        p[i] = present(s->buffers, i, source->table);
    source->table->locate(source->jobs, p, n);
    for (unsigned i = 0; i < n; i++) {
        if (p[i].slot == NULL && source->table->reason[p[i].reason].strange) {
            refuse(s, source, &p[i], &s->buffers->from[i], now);
        } else if (!is_ours(s, source->table, &p[i])) {
            count(s, SHARD_WRONG_PORT, 1);
        } else {
            p[ours++] = p[i];
        }
    }
    apply(s, source, p, ours, now);
}

/* Those that are longer than any packet may be are none. */
static void take(struct shard *s, const struct shard_source *source)
{
    struct shard_buffers *b = s->buffers;

    for (unsigned i = 0; i < SHARD_BURST; i++) {
        b->iov[i] = (struct iovec){b->payload + i * b->room, b->room};
        b->message[i].msg_hdr = (struct msghdr){.msg_name = &b->from[i],
                                                .msg_namelen = sizeof(b->from[i]),
                                                .msg_iov = &b->iov[i],
                                                .msg_iovlen = 1,
                                                .msg_control = b->control[i],
                                                .msg_controllen = sizeof(b->control[i])};
    }
    const int n = recvmmsg(source->fd, b->message, SHARD_BURST, MSG_DONTWAIT, NULL);
    if (n <= 0)
        return;
    count(s, SHARD_RECEIVED, (unsigned)n);
    jobs_enter(s->jobs, s->number);
    handle(s, source, (unsigned)n);
    jobs_leave(s->jobs, s->number);
}

/* --- time --------------------------------------------------------------------------------------------------
 */

static void tick_job(struct shard *s, const struct shard_source *source, const struct agg_job *job,
                     uint64_t now)
{
    struct agg_verdict v;

    while (source->table->tick(job, s->number, s->jobs->threads, now, &v)) {
        const struct carry_out out = {.fd = source->fd, .job = job};
        const struct carried carried = carry(&out, &v);

        counter_add(&s->verdict[source->table->id][v.reason], 1);
        count(s, SHARD_SENT, carried.sent);
        count(s, SHARD_LOST_SENDING, carried.lost);
    }
}

static void tick(struct shard *s)
{
    const uint64_t now = monotonic_ns();

    if (now - s->ticked_at < TICK_NS)
        return;
    s->ticked_at = now;
    jobs_enter(s->jobs, s->number);
    for (unsigned i = 0; i < s->sources; i++)
        for (unsigned n = 0; s->source[i].table->tick != NULL && n < AGG_JOBS; n++) {
            const struct agg_job *job = agg_jobs_find(s->source[i].jobs, n);

            if (job != NULL)
                tick_job(s, &s->source[i], job, now);
        }
    jobs_leave(s->jobs, s->number);
}

static bool has_ticking_jobs(const struct shard *s, const struct shard_source *source)
{
    const struct agg_protocol *table = source->table;

    for (unsigned n = 0; table->ticks != NULL && n < AGG_JOBS; n++) {
        const struct agg_job *job = agg_jobs_find(source->jobs, n);

        if (job != NULL && table->ticks(job->pool, s->number))
            return true;
    }
    return table->tick != NULL && table->ticks == NULL;
}

/* How long it may sleep, in ms; -1: until something comes. */
static int patience(struct shard *s)
{
    bool ticks = false;

    jobs_enter(s->jobs, s->number);
    for (unsigned i = 0; i < s->sources; i++)
        ticks |= has_ticking_jobs(s, &s->source[i]);
    jobs_leave(s->jobs, s->number);
    return ticks ? TICK_NS / 1000000 : -1;
}

static void *run(void *context)
{
    struct shard *s = context;
    struct pollfd fds[SHARD_SOURCES_MAX + 1];

    for (unsigned i = 0; i < s->sources; i++)
        fds[i] = (struct pollfd){.fd = s->source[i].fd, .events = POLLIN};
    fds[s->sources] = (struct pollfd){.fd = s->stop_fd, .events = POLLIN};
    while (fds[s->sources].revents == 0) {
        poll(fds, s->sources + 1, patience(s));
        for (unsigned i = 0; i < s->sources; i++)
            if (fds[i].revents != 0)
                take(s, &s->source[i]);
        tick(s);
    }
    return NULL;
}

/* --- life --------------------------------------------------------------------------------------------------
 */

static void set_up(int fd)
{
    const int bytes = SOCKET_BUFFER, discover = IP_PMTUDISC_PROBE;

    if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes)) < 0)
        setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes));
    if (setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &bytes, sizeof(bytes)) < 0)
        setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes));
    setsockopt(fd, IPPROTO_IP, IP_MTU_DISCOVER, &discover, sizeof(discover));
}

int shard_bind(uint32_t ip, uint16_t port)
{
    const struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = ip, .sin_port = htons(port)};
    const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    char text[INET_ADDRSTRLEN];
    int rc;

    if (fd >= 0 && bind(fd, (const struct sockaddr *)&at, sizeof(at)) == 0) {
        set_up(fd);
        return fd;
    }
    rc = -errno;
    log_error("no UDP port %u of %s: %s; server.ip must be an address of this host, at which no other server "
              "or switch runs",
              port, inet_ntop(AF_INET, &at.sin_addr, text, sizeof(text)), strerror(-rc));
    if (fd >= 0)
        close(fd);
    return rc;
}

/* What goes to a group leaves by the interface that has the server's address. Where that does not work,
 * nobody hears the group, and results go one by one. */
static void send_to_groups(int fd, const struct config *cfg)
{
    const struct in_addr from = {.s_addr = cfg->server.ip};
    const int ttl = (int)cfg->server.group_ttl;

    if (setsockopt(fd, IPPROTO_IP, IP_MULTICAST_IF, &from, sizeof(from)) < 0 ||
        setsockopt(fd, IPPROTO_IP, IP_MULTICAST_TTL, &ttl, sizeof(ttl)) < 0)
        log_warning("results go to workers one by one, not by groups (server.groups): %s", strerror(errno));
}

/* A port for each protocol whose packets come to the switch's own address. */
static int open_sources(struct shard *s, const struct config *cfg)
{
    unsigned protocols;
    const struct agg_protocol *const *protocol = agg_protocols(&protocols);

    for (unsigned p = 0; p < protocols; p++) {
        struct shard_source *source = &s->source[s->sources];

        if (!shard_carries(protocol[p]))
            continue;
        *source = (struct shard_source){.table = protocol[p], .jobs = &s->jobs->running[protocol[p]->id]};
        source->fd = shard_bind(cfg->server.ip, (uint16_t)(protocol[p]->udp_ports.first + s->number));
        if (source->fd < 0)
            return source->fd;
        if (protocol[p]->mark != NULL && ecn_notice(source->fd) < 0)
            log_warning("UDP port %u does without congestion marks: %s",
                        protocol[p]->udp_ports.first + s->number, strerror(errno));
        if (protocol[p]->note_group != NULL && cfg->server.groups > 0)
            send_to_groups(source->fd, cfg);
        s->sources++;
    }
    return 0;
}

int shard_start(struct shard *s, const struct config *cfg)
{
    int rc;

    s->strangers = (struct strangers){.boot_id = s->boot_id, .data_ports = (uint8_t)s->jobs->threads};
    strangers_init(&s->strangers, secret64());
    s->buffers = calloc(1, sizeof(*s->buffers));
    if (s->buffers != NULL) {
        s->buffers->room = cfg->mtu;
        s->buffers->payload = malloc(SHARD_BURST * s->buffers->room);
    }
    if (s->buffers == NULL || s->buffers->payload == NULL)
        return log_fail(-ENOMEM, "no memory for the buffers of thread %u", s->number);
    rc = open_sources(s, cfg);
    if (rc < 0)
        return rc;
    rc = -pthread_create(&s->thread, NULL, run, s);
    s->runs = rc == 0;
    if (rc < 0)
        log_error("cannot start thread %u: %s", s->number, strerror(-rc));
    return rc;
}

void shard_join(struct shard *s)
{
    if (s->runs)
        pthread_join(s->thread, NULL);
    s->runs = false;
}

void shard_close(struct shard *s)
{
    for (unsigned i = 0; i < s->sources; i++)
        close(s->source[i].fd);
    if (s->buffers != NULL)
        free(s->buffers->payload);
    free(s->buffers);
}
