#include "ps.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <arpa/inet.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/secret.h"
#include "control/strangers_rate.h"
#include "protocols.h"
#include "sodium_keys.h"

enum {
    MESSAGES_AT_ONCE = 256,
    PAUSE_MS = 200, /* a longer pause of this process does not count as its members' silence */
    IP_UDP_BYTES = 20 + 8,
};

/* --- what the registry asks for ----------------------------------------------------------------------------
 */

static void send_message(void *context, const struct ctl_endpoint *to, const uint8_t *payload, size_t bytes)
{
    const struct ps *ps = context;
    const struct sockaddr_in at = {
        .sin_family = AF_INET, .sin_addr.s_addr = to->ip, .sin_port = htons(to->udp_port)};

    /* What is lost here is as if it had been lost on the way. */
    (void)sendto(ps->control_fd, payload, bytes, MSG_DONTWAIT, (const struct sockaddr *)&at, sizeof(at));
}

static int prepare(void *context, const struct ctl_entry *job, struct agg_terms *terms, uint8_t *number,
                   char text[CTL_TEXT_MAX])
{
    struct ps *ps = context;

    return jobs_open(&ps->jobs, job, terms, number, text);
}

static void release(void *context, const struct ctl_entry *job)
{
    struct ps *ps = context;

    jobs_close(&ps->jobs, job->protocol, job->number);
}

static uint64_t random64(void *context)
{
    (void)context;
    return secret64();
}

static void report(void *context, const struct ctl_entry *job, const char *what)
{
    (void)context;
    log_notice("job %s: %s", job->name, what);
}

static struct ctl_registry_config registry_config(struct ps *ps)
{
    static const struct ctl_tenant everybody = {.name = "default"};
    const struct config *cfg = ps->cfg;
    unsigned protocols;

    return (struct ctl_registry_config){
        .protocols = agg_protocols(&protocols),
        .protocols_known = protocols,
        .max_jobs = (uint16_t)cfg->limits.jobs,
        .max_workers = (uint16_t)cfg->limits.workers,
        .tenants_known = 1,
        .tenants = &everybody,
        .jobs_per_host = (uint16_t)cfg->limits.jobs_per_host,
        .forming_max_ns = cfg->timers.forming_s * UINT64_C(1000000000),
        .boot_id = ps->boot_id,
        .lost_after_ns = cfg->timers.lost_after_ms * UINT64_C(1000000),
        .data_ports = (uint8_t)ps->shards,
        .payload_bytes = (uint16_t)(cfg->mtu - IP_UDP_BYTES),
        .first_group = ntohl(cfg->server.first_group),
        .groups = cfg->server.groups,
        .library = keys_sodium(),
        .actions = {.ctx = ps,
                    .send = send_message,
                    .prepare = prepare,
                    .release = release,
                    .random = random64,
                    .event = report},
    };
}

/* --- messages ----------------------------------------------------------------------------------------------
 */

static void set_time(struct ps *ps)
{
    ps->now = listening_time(&ps->listening, NULL, 0, clock_ns());
}

/* Operators end jobs on another thread, so that even to look at the registry takes the lock. */
static void take_message(struct ps *ps, const struct sockaddr_in *at, const uint8_t *payload, size_t bytes)
{
    const struct ctl_endpoint from = {.ip = at->sin_addr.s_addr, .udp_port = ntohs(at->sin_port)};

    pthread_mutex_lock(&ps->lock);
    if (ctl_registry_knows(ps->registry, &from, payload, bytes) ||
        throttle_admit(&ps->strangers, from.ip, clock_ns())) {
        set_time(ps);
        ctl_registry_receive(ps->registry, &from, payload, bytes, ps->now);
    } else {
        counter_add(&ps->rate_drops, 1);
    }
    pthread_mutex_unlock(&ps->lock);
}

/* A bounded number: signals and time have their turn, too. */
static void take_messages(struct ps *ps)
{
    uint8_t payload[CTL_MESSAGE_MAX + 1];

    for (unsigned i = 0; i < MESSAGES_AT_ONCE; i++) {
        struct sockaddr_in from;
        socklen_t length = sizeof(from);
        const ssize_t n = recvfrom(ps->control_fd, payload, sizeof(payload), MSG_DONTWAIT,
                                   (struct sockaddr *)&from, &length);

        if (n >= 0)
            take_message(ps, &from, payload, (size_t)n);
        else if (errno == EAGAIN)
            return;
    }
}

static void tick(struct ps *ps)
{
    pthread_mutex_lock(&ps->lock);
    set_time(ps);
    ctl_registry_tick(ps->registry, ps->now);
    pthread_mutex_unlock(&ps->lock);
}

void ps_run(struct ps *ps)
{
    struct pollfd fds[] = {{.fd = ps->signal_fd, .events = POLLIN}, {.fd = ps->control_fd, .events = POLLIN}};
    const int tick_ms = (int)(ps->cfg->timers.lost_after_ms / 100 + 1);

    while (fds[0].revents == 0) {
        poll(fds, 2, tick_ms);
        if (fds[1].revents != 0)
            take_messages(ps);
        tick(ps);
    }
}

/* --- life --------------------------------------------------------------------------------------------------
 */

static unsigned threads_of(const struct config *cfg)
{
    const long cpus = sysconf(_SC_NPROCESSORS_ONLN);

    if (cfg->server.threads > 0)
        return cfg->server.threads;
    return cpus < 1 ? 1 : cpus > CONFIG_SERVER_THREADS_MAX ? CONFIG_SERVER_THREADS_MAX : (unsigned)cpus;
}

/* Before there are threads, so that they take no signals. */
static int open_signals(void)
{
    sigset_t ends;

    sigemptyset(&ends);
    sigaddset(&ends, SIGTERM);
    sigaddset(&ends, SIGINT);
    sigprocmask(SIG_BLOCK, &ends, NULL);
    return signalfd(-1, &ends, SFD_CLOEXEC);
}

static int open_registry(struct ps *ps)
{
    const struct ctl_registry_config config = registry_config(ps);
    const size_t bytes = ctl_registry_footprint(&config);
    void *memory = bytes == 0 ? NULL : calloc(1, bytes);

    if (memory == NULL) {
        log_error("no memory for %u jobs of %u workers (limits)", ps->cfg->limits.jobs,
                  ps->cfg->limits.workers);
        return -ENOMEM;
    }
    ps->registry = ctl_registry_init(memory, &config);
    return 0;
}

static int start_shards(struct ps *ps)
{
    for (unsigned i = 0; i < ps->shards; i++) {
        struct shard *s = &ps->shard[i];
        int rc;

        s->jobs = &ps->jobs;
        s->number = i;
        s->boot_id = ps->boot_id;
        s->stop_fd = ps->stop_fd;
        rc = shard_start(s, ps->cfg);
        if (rc < 0)
            return rc;
    }
    return 0;
}

int ps_open(struct ps *ps, const struct config *cfg)
{
    int rc;

    ps->cfg = cfg;
    ps->boot_id = secret64() | 1;
    ps->started = clock_ns();
    ps->shards = threads_of(cfg);
    ps->jobs.cfg = cfg;
    ps->jobs.threads = ps->shards;
    ps->jobs.kernels = agg_kernels_best();
    inet_ntop(AF_INET, &cfg->ip, ps->name, sizeof(ps->name));
    pthread_mutex_init(&ps->lock, NULL);
    throttle_init(&ps->strangers, strangers_rate(cfg), secret64());
    listening_init(&ps->listening, PAUSE_MS * UINT64_C(1000000), clock_ns());
    ps->signal_fd = open_signals();
    ps->stop_fd = eventfd(0, EFD_CLOEXEC);
    ps->control_fd = -1;
    if (ps->signal_fd < 0 || ps->stop_fd < 0)
        return -errno;
    if ((rc = open_registry(ps)) < 0 || (rc = start_shards(ps)) < 0)
        return rc;
    ps->control_fd = shard_bind(cfg->ip, CTL_PORT); /* last: who is answered there can be served */
    return ps->control_fd < 0 ? ps->control_fd : 0;
}

void ps_close(struct ps *ps)
{
    const uint64_t one = 1;

    if (ps->stop_fd >= 0 && write(ps->stop_fd, &one, sizeof(one)) < 0)
        log_error("cannot stop the threads: %s", strerror(errno));
    for (unsigned i = 0; i < ps->shards; i++)
        shard_join(&ps->shard[i]);
    for (unsigned i = 0; i < ps->shards; i++)
        shard_close(&ps->shard[i]);
    jobs_free(&ps->jobs);
    free(ps->registry);
    if (ps->control_fd >= 0)
        close(ps->control_fd);
    close(ps->signal_fd);
    close(ps->stop_fd);
    pthread_mutex_destroy(&ps->lock);
}
