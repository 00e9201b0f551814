#include "loop_switch.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "loop_jobs.h"
#include "monotonic.h"
#include "wire/path.h"
#include "wire/switchml.h"

enum {
    BATCH = 64,
    IP_UDP_BYTES = 20 + 8,
    DATAGRAM_MAX = SML_HEADER_BYTES + SML_MAX_CHUNK_BYTES + 64,
    HOLD_MS = 1,   /* between looks at what is held, and at what is due in jobs */
    TICK_MS = 100, /* between looks at who is lost */
    LOST_AFTER_MS = 60000,
    SOCKET_BUFFER = 16 << 20
};

struct datagram {
    enum loop_port port; /* of the switch */
    struct sockaddr_in peer;
    size_t bytes;
    uint8_t payload[];
};

struct loop_switch {
    struct loop_switch_config config;
    char ip[INET_ADDRSTRLEN];
    int fd[LOOP_PORTS], stop_fd;
    pthread_t thread;
    sem_t runs; /* posted by the thread: it has started */
    bool alive;
    unsigned to_ignore;
    enum ctl_type to_lose;
    uint64_t lives;
    atomic_uint_fast64_t packets, most; /* most 0: any number */
    struct loop_life life;
    struct impair in, out;
    struct mmsghdr message[BATCH];
    struct iovec iov[BATCH];
    struct sockaddr_in peer[BATCH];
    uint8_t buffer[BATCH][DATAGRAM_MAX];
};

static void die(const char *what)
{
    fprintf(stderr, "loop switch: %s: %s\n", what, strerror(errno));
    abort();
}

typedef void deliver_fn(struct loop_switch *ls, const struct datagram *d);

static bool is_lost(struct loop_switch *ls, const struct datagram *d)
{
    struct ctl_message m;
    if (ls->to_lose == 0 || ctl_parse(&m, d->payload, d->bytes) != CTL_PARSED || m.head.type != ls->to_lose)
        return false;
    ls->to_lose = 0;
    return true;
}

static void to_switch(struct loop_switch *ls, const struct datagram *d)
{
    uint32_t ip = d->peer.sin_addr.s_addr;
    uint16_t port = ntohs(d->peer.sin_port);
    const uint64_t most = atomic_load(&ls->most);
    if (most > 0 && loop_switch_packets(ls) >= most)
        return;
    if (d->port == LOOP_CONTROL) {
        if (!is_lost(ls, d))
            loop_life_control(&ls->life, ip, port, d->payload, d->bytes, monotonic_ns());
    } else {
        if (!path_is_question(d->payload, d->bytes))
            atomic_fetch_add_explicit(&ls->packets, 1, memory_order_relaxed);
        loop_life_data(&ls->life, d->port, ip, port, d->payload, d->bytes, monotonic_ns());
    }
}

/* A worker that is gone or slow loses datagrams; that is not the switch's business. */
static void to_worker(struct loop_switch *ls, const struct datagram *d)
{
    (void)sendto(ls->fd[d->port], d->payload, d->bytes, 0, (const struct sockaddr *)&d->peer, sizeof d->peer);
}

static void release(struct loop_switch *ls, struct impair *im, deliver_fn *deliver)
{
    struct datagram *d;
    while ((d = impair_release(im, monotonic_ns()))) {
        deliver(ls, d);
        free(d);
    }
}

/* A datagram's way over an impaired link. Damaged ones that have UDP's checksum would fail it: they count as
 * lost. */
static void carry(struct loop_switch *ls, struct impair *im, deliver_fn *deliver, enum loop_port port,
                  const struct sockaddr_in *peer, const uint8_t *payload, size_t bytes)
{
    struct impair_decision decision = impair_decide(im, (uint32_t)bytes);
    const bool unnoticed = ls->config.damages && port != LOOP_CONTROL;
    if (!decision.drop && (!decision.corrupt || unnoticed)) {
        struct datagram *d = malloc(sizeof *d + bytes);
        if (!d)
            die("malloc");
        *d = (struct datagram){.port = port, .peer = *peer, .bytes = bytes};
        memcpy(d->payload, payload, bytes);
        if (decision.corrupt)
            d->payload[decision.corrupt_bit / 8] ^= (uint8_t)(1u << decision.corrupt_bit % 8);
        if (decision.hold) {
            impair_hold(im, d, monotonic_ns());
        } else {
            deliver(ls, d);
            if (decision.duplicate)
                deliver(ls, d);
            free(d);
        }
    }
    release(ls, im, deliver);
}

/* Of a data packet: control messages are short. */
static bool fits(unsigned mtu, enum loop_port port, size_t bytes)
{
    return mtu == 0 || port == LOOP_CONTROL || bytes + IP_UDP_BYTES <= mtu;
}

static void send_from(void *ctx, enum loop_port from, uint32_t ip, uint16_t port, const uint8_t *payload,
                      size_t bytes)
{
    struct loop_switch *ls = ctx;
    struct sockaddr_in peer = {.sin_family = AF_INET, .sin_addr.s_addr = ip, .sin_port = htons(port)};
    if (fits(ls->config.mtu_out, from, bytes))
        carry(ls, &ls->out, to_worker, from, &peer, payload, bytes);
}

static void receive(struct loop_switch *ls, enum loop_port port)
{
    for (unsigned i = 0; i < BATCH; i++) {
        ls->iov[i] = (struct iovec){.iov_base = ls->buffer[i], .iov_len = DATAGRAM_MAX};
        ls->message[i].msg_hdr = (struct msghdr){.msg_iov = &ls->iov[i],
                                                 .msg_iovlen = 1,
                                                 .msg_name = &ls->peer[i],
                                                 .msg_namelen = sizeof ls->peer[i]};
    }
    int n = recvmmsg(ls->fd[port], ls->message, BATCH, MSG_DONTWAIT, NULL);
    if (ls->to_ignore > 0) {
        for (int i = 0; port == LOOP_CONTROL && i < n && ls->to_ignore > 0; i++)
            ls->to_ignore--;
        return;
    }
    for (int i = 0; i < n; i++)
        if (fits(ls->config.mtu_in, port, ls->message[i].msg_len))
            carry(ls, &ls->in, to_switch, port, &ls->peer[i], ls->buffer[i], ls->message[i].msg_len);
}

/* Held to be read by a switch's thread while it works, and to be written by who forks, which is after it has
 * started: of a child's locks only libc's are sure to be open, and the address sanitizer's allocator is not
 * libc's. */
static pthread_rwlock_t working = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;

static void before_fork(void)
{
    pthread_rwlock_wrlock(&working);
}

static void after_fork(void)
{
    pthread_rwlock_unlock(&working);
}

static void guard_forks(void)
{
    if ((errno = pthread_atfork(before_fork, after_fork, after_fork)))
        die("pthread_atfork");
}

static void *run(void *arg)
{
    struct loop_switch *ls = arg;
    struct pollfd fds[LOOP_PORTS + 1] = {[LOOP_PORTS] = {.fd = ls->stop_fd, .events = POLLIN}};
    uint64_t tick_at = 0, jobs_tick_at = 0;
    bool jobs_tick = false;
    for (enum loop_port port = 0; port < LOOP_PORTS; port++)
        fds[port] = (struct pollfd){.fd = ls->fd[port], .events = POLLIN};
    sem_post(&ls->runs);
    do {
        bool holds = ls->in.held || ls->out.held;
        poll(fds, LOOP_PORTS + 1, holds || jobs_tick ? HOLD_MS : TICK_MS);
        pthread_rwlock_rdlock(&working);
        for (enum loop_port port = 0; port < LOOP_PORTS; port++)
            if (fds[port].revents)
                receive(ls, port);
        release(ls, &ls->in, to_switch);
        release(ls, &ls->out, to_worker);
        uint64_t now = monotonic_ns();
        if (now >= jobs_tick_at) {
            jobs_tick = loop_life_tick(&ls->life, now);
            jobs_tick_at = now + HOLD_MS * NS_PER_MS;
        }
        if (now >= tick_at) {
            ctl_registry_tick(ls->life.registry, now);
            tick_at = now + TICK_MS * NS_PER_MS;
        }
        pthread_rwlock_unlock(&working);
    } while (!fds[LOOP_PORTS].revents);
    return NULL;
}

static int bind_port(const char *ip, uint16_t port)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(port)};
    inet_pton(AF_INET, ip, &at.sin_addr);
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), bytes = SOCKET_BUFFER;
    if (fd < 0)
        die("socket");
    if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof bytes) < 0)
        setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
    if (bind(fd, (struct sockaddr *)&at, sizeof at) == 0)
        return fd;
    if (errno != EADDRINUSE)
        die("bind");
    close(fd);
    return -1;
}

static bool bind_ports(struct loop_switch *ls)
{
    for (enum loop_port port = 0; port < LOOP_PORTS; port++) {
        ls->fd[port] =
            bind_port(ls->ip, port == LOOP_CONTROL ? CTL_PORT : loop_protocol(port)->udp_ports.first);
        if (ls->fd[port] >= 0)
            continue;
        while (port-- > 0)
            close(ls->fd[port]);
        return false;
    }
    return true;
}

/* The ports are bound. */
static void begin_life(struct loop_switch *ls)
{
    ls->lives++;
    uint64_t boot_id = ls->config.seed * 1000 + ls->lives;
    impair_init(&ls->in, &ls->config.in, ls->config.seed, 2 * ls->lives);
    impair_init(&ls->out, &ls->config.out, ls->config.seed, 2 * ls->lives + 1);
    loop_life_begin(&ls->life, boot_id, ls->config.lost_after_ms * NS_PER_MS, ls->config.key, send_from, ls);
    ls->life.deaf = ls->lives == 1 ? ls->config.deaf : 0;
    ls->life.full = ls->config.full;
    ls->to_ignore = ls->lives == 1 ? ls->config.ignores : 0;
    ls->to_lose = ls->lives == 1 ? ls->config.loses : 0;
    atomic_store(&ls->packets, 0);
    ls->stop_fd = eventfd(0, EFD_CLOEXEC);
    if (ls->stop_fd < 0)
        die("eventfd");
    if ((errno = pthread_create(&ls->thread, NULL, run, ls)))
        die("pthread_create");
    while (sem_wait(&ls->runs) < 0)
        ;
    ls->alive = true;
}

struct loop_switch *loop_switch_start(const struct loop_switch_config *config)
{
    static atomic_uint made;
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, guard_forks);
    struct loop_switch *ls = calloc(1, sizeof *ls);
    if (!ls)
        die("calloc");
    ls->config = *config;
    sem_init(&ls->runs, 0, 0);
    if (ls->config.lost_after_ms == 0)
        ls->config.lost_after_ms = LOST_AFTER_MS;
    do {
        unsigned n = (unsigned)getpid() * 61 + atomic_fetch_add(&made, 1);
        snprintf(ls->ip, sizeof ls->ip, "127.%u.%u.%u", 1 + n / 62500 % 250, 1 + n / 250 % 250, 1 + n % 250);
    } while (!bind_ports(ls));
    begin_life(ls);
    return ls;
}

const char *loop_switch_ip(const struct loop_switch *ls)
{
    return ls->ip;
}

void loop_switch_kill(struct loop_switch *ls)
{
    uint64_t one = 1;
    struct datagram *d;
    if (!ls->alive)
        return;
    if (write(ls->stop_fd, &one, sizeof one) < 0)
        die("write");
    pthread_join(ls->thread, NULL);
    for (enum loop_port port = 0; port < LOOP_PORTS; port++)
        close(ls->fd[port]);
    close(ls->stop_fd);
    while ((d = impair_flush(&ls->in)) || (d = impair_flush(&ls->out)))
        free(d);
    loop_life_end(&ls->life);
    ls->alive = false;
}

void loop_switch_revive(struct loop_switch *ls)
{
    if (!bind_ports(ls))
        die("the address is taken");
    begin_life(ls);
}

uint64_t loop_switch_packets(const struct loop_switch *ls)
{
    return atomic_load_explicit(&ls->packets, memory_order_relaxed);
}

void loop_switch_take(struct loop_switch *ls, uint64_t packets)
{
    atomic_store(&ls->most, packets == 0 ? 0 : loop_switch_packets(ls) + packets);
}

static void pause_ms(long ms)
{
    nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000}, NULL);
}

void loop_switch_restart_there(struct loop_switch *ls, long after_ms, uint64_t packets)
{
    while (loop_switch_packets(ls) < atomic_load(&ls->most))
        pause_ms(1);
    loop_switch_kill(ls);
    pause_ms(after_ms);
    atomic_store(&ls->most, packets);
    loop_switch_revive(ls);
}

void loop_switch_stop(struct loop_switch *ls)
{
    loop_switch_kill(ls);
    free(ls);
}
