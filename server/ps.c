#include "ps.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <arpa/inet.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/secret.h"
#include "ps_registry.h"
#include "ps_reload.h"
#include "registry/registry_next.h"
#include "registry/signals.h"
#include "registry/tenants.h"

/* A bounded number: signals and time have their turn, too. */
enum { MESSAGES_AT_ONCE = 1024 };

/* --- messages ----------------------------------------------------------------------------------------------
 */

static void set_time(struct ps *ps)
{
    ps->now = listening_time(&ps->listening, NULL, 0, clock_ns());
}

/* Operators end jobs on another thread, so that even to look at the registry takes the lock. */
static void handle(void *context, const struct ctl_endpoint *from, const uint8_t *payload, size_t bytes,
                   uint64_t now)
{
    struct ps *ps = context;

    (void)now; /* the registry has a clock of its own */
    pthread_mutex_lock(&ps->lock);
    set_time(ps);
    ps->lines.heard = from->ip;
    ctl_registry_receive(ps->registry, from, payload, bytes, ps->now);
    ps->lines.heard = 0;
    pthread_mutex_unlock(&ps->lock);
}

/* False: there are no more now. */
static bool take_message(struct ps *ps)
{
    uint8_t payload[CTL_MESSAGE_MAX + 1];
    struct sockaddr_in at;
    socklen_t length = sizeof(at);
    const ssize_t n =
        recvfrom(ps->control_fd, payload, sizeof(payload), MSG_DONTWAIT, (struct sockaddr *)&at, &length);
    const struct ctl_endpoint from = {.ip = at.sin_addr.s_addr, .udp_port = ntohs(at.sin_port)};
    enum drop why;

    if (n < 0)
        return errno != EAGAIN;
    why = anteroom_take(&ps->anteroom, &from, payload, (size_t)n, clock_ns());
    if (why != DROP_REASONS)
        counter_add(&ps->drop[why], 1);
    return true;
}

static void list_members(struct ps *ps)
{
    pthread_mutex_lock(&ps->lock);
    anteroom_list_members(&ps->anteroom, ps->registry);
    pthread_mutex_unlock(&ps->lock);
}

static void take_messages(struct ps *ps)
{
    for (unsigned i = 0; i < MESSAGES_AT_ONCE && take_message(ps); i++)
        ;
    if (anteroom_serve(&ps->anteroom, clock_ns()) > 0)
        list_members(ps); /* they may be some now */
}

static void tick(struct ps *ps)
{
    char text[JOB_LINES_TEXT_MAX];

    if (clock_ns() < ps->tick_at)
        return;
    ps->tick_at = clock_ns() + (uint64_t)ps->tick_ms * 1000000;
    pthread_mutex_lock(&ps->lock);
    set_time(ps);
    ctl_registry_tick(ps->registry, ps->now);
    anteroom_list_members(&ps->anteroom, ps->registry);
    if (job_lines_left_out(&ps->lines, clock_ns(), text))
        log_notice("%s", text);
    pthread_mutex_unlock(&ps->lock);
}

/* False: it is to end. */
static bool heed_signal(struct ps *ps)
{
    const int signal = signals_take(ps->signal_fd);
    struct config_changes *changes;

    if (signal > 0)
        log_notice("stopping: %s", strsignal(signal));
    if (signal != SIGNALS_RELOAD)
        return signal == 0;
    changes = malloc(sizeof(*changes));
    if (changes == NULL)
        log_error("reload: no memory");
    else
        ps_reload(ps, changes);
    free(changes);
    return true;
}

void ps_run(struct ps *ps)
{
    struct pollfd fds[] = {{.fd = ps->signal_fd, .events = POLLIN}, {.fd = ps->control_fd, .events = POLLIN}};

    for (;;) {
        poll(fds, 2, anteroom_has_waiting(&ps->anteroom) ? 0 : ps->tick_ms);
        if (fds[0].revents != 0 && !heed_signal(ps))
            return;
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

static int open_registry(struct ps *ps)
{
    struct registry_next first = {0};
    struct ctl_registry_config config;
    int rc = keyring_load(&ps->keys, ps->cfg);

    tenants_list(ps->cfg, ps->tenant);
    config = ps_registry_config(ps, ps->cfg, &ps->keys);
    if (rc == 0)
        rc = registry_next_reserve(&first, &config);
    if (rc == 0)
        ps->registry = ctl_registry_init(first.memory, &config);
    return rc;
}

static int start_shards(struct ps *ps)
{
    for (unsigned i = 0; i < ps->shards; i++) {
        struct shard *s = &ps->shard[i];
        int rc;

        s->jobs = &ps->jobs;
        s->number = i;
        s->boot_id = ps->reject_id;
        s->stop_fd = ps->stop_fd;
        rc = shard_start(s, ps->cfg);
        if (rc < 0)
            return rc;
    }
    return 0;
}

int ps_open(struct ps *ps, struct config *cfg, const char *file)
{
    int rc;

    ps->cfg = cfg;
    ps->file = file;
    ps->tick_ms = (int)listening_ask_every_ms(cfg->timers.lost_after_ms);
    ps->boot_id = secret64() | 1;
    ps->reject_id = secret64() | 1;
    ps->started = clock_ns();
    ps->shards = threads_of(cfg);
    ps->jobs.cfg = cfg;
    ps->jobs.threads = ps->shards;
    ps->jobs.kernels = agg_kernels_best();
    inet_ntop(AF_INET, &cfg->server.ip, ps->name, sizeof(ps->name));
    pthread_mutex_init(&ps->lock, NULL);
    job_lines_init(&ps->lines, cfg, secret64());
    anteroom_init(&ps->anteroom, cfg, secret64(), handle, ps);
    /* a longer pause of this process does not count as its members' silence */
    listening_init(&ps->listening, LISTENING_PAUSE_MS * UINT64_C(1000000), clock_ns());
    signals_block(); /* before there are threads, so that they take none */
    ps->signal_fd = signals_open();
    ps->stop_fd = eventfd(0, EFD_CLOEXEC);
    ps->control_fd = -1;
    if (ps->signal_fd < 0 || ps->stop_fd < 0)
        return -errno;
    if ((rc = open_registry(ps)) < 0 || (rc = start_shards(ps)) < 0)
        return rc;
    ps->control_fd = shard_bind(cfg->server.ip, CTL_PORT); /* last: who is answered there can be served */
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
    anteroom_free(&ps->anteroom);
    free(ps->registry);
    keys_erase(&ps->keys, sizeof(ps->keys));
    if (ps->control_fd >= 0)
        close(ps->control_fd);
    close(ps->signal_fd);
    close(ps->stop_fd);
    pthread_mutex_destroy(&ps->lock);
}
