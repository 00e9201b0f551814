#include "ps.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/log.h"
#include "base/secret.h"
#include "config/config.h"
#include "kernels_chosen.h"
#include "monotonic.h"
#include "protocols.h"
#include "registry/signals.h"

/* --- what the registry asks for ------------------------------------------------------------------------ */

static void send_message(void *context, const struct ctl_endpoint *to, const uint8_t *payload, size_t bytes)
{
    const struct ps *ps = context;
    const struct sockaddr_in at = {
        .sin_family = AF_INET, .sin_addr.s_addr = to->ip, .sin_port = htons(to->udp_port)};

    /* What is lost here is as if it had been lost on the way. */
    (void)sendto(ps->control_fd, payload, bytes, MSG_DONTWAIT, (const struct sockaddr *)&at, sizeof(at));
}

static int prepare_job(void *context, const struct ctl_entry *job, struct agg_terms *terms, uint8_t *number,
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

static bool heard(void *context, const struct ctl_entry *job, unsigned rank)
{
    const struct ps *ps = context;

    return jobs_heard(&ps->jobs, job, rank);
}

static bool has_room(const struct registry_host *h, const struct room_job *asked, char text[AGG_TEXT_MAX])
{
    return jobs_have_room_for(&((const struct ps *)h)->jobs, asked, text);
}

static const struct registry_host_kind kind = {
    .actions = {.send = send_message, .prepare = prepare_job, .release = release, .heard = heard},
    .has_room = has_room};

/* --- another configuration ----------------------------------------------------------------------------- */

static int load(struct config *next, const char *file, settings_report report, void *context)
{
    const int rc = config_load_server(next, file, report, context);

    return rc == 0 && !machine_suits(next) ? -ENOMEM : rc;
}

static void commit(void *context, struct registry_change *c)
{
    struct ps *ps = context;

    pthread_mutex_lock(&ps->common.lock);
    *ps->cfg = *c->next;
    jobs_follow(&ps->jobs, c->tenant);
    registry_change_take(c);
    pthread_mutex_unlock(&ps->common.lock);
    reception_follow(&ps->reception, ps->cfg);
}

/* --- at work ------------------------------------------------------------------------------------------- */

static void tick(struct ps *ps)
{
    if (monotonic_ns() < ps->tick_at)
        return;
    ps->tick_at = monotonic_ns() + listening_ask_every_ms(ps->cfg->timers.lost_after_ms) * UINT64_C(1000000);
    reception_tick(&ps->reception, monotonic_ns());
}

/* False: it is to end. */
static bool heed_signal(struct ps *ps)
{
    const int signal = signals_take(ps->signal_fd);

    if (signal > 0)
        log_notice("stopping: %s", strsignal(signal));
    if (signal == SIGNALS_RELOAD)
        registry_reload_on_signal(&ps->common, &ps->reload);
    return signal <= 0;
}

void ps_run(struct ps *ps)
{
    struct pollfd fds[] = {{.fd = ps->signal_fd, .events = POLLIN},
                           {.fd = ps->control_fd, .events = POLLIN},
                           {.fd = ps->handoff.wake, .events = POLLIN}};
    bool strangers_wait = false;

    for (;;) {
        poll(fds, 3, strangers_wait ? 0 : (int)listening_ask_every_ms(ps->cfg->timers.lost_after_ms));
        if (fds[0].revents != 0 && !heed_signal(ps))
            return;
        if (fds[2].revents != 0)
            handoff_serve(&ps->handoff);
        reception_take(&ps->reception, ps->control_fd, monotonic_ns());
        strangers_wait = reception_serve(&ps->reception, monotonic_ns());
        tick(ps);
    }
}

/* --- life ---------------------------------------------------------------------------------------------- */

static unsigned threads_of(const struct config *cfg)
{
    const long cpus = sysconf(_SC_NPROCESSORS_ONLN);

    if (cfg->server.threads > 0)
        return cfg->server.threads;
    return cpus < 1 ? 1 : cpus > CONFIG_SERVER_THREADS_MAX ? CONFIG_SERVER_THREADS_MAX : (unsigned)cpus;
}

static int open_registry(struct ps *ps)
{
    struct registry_host_parts parts = {.kind = &kind,
                                        .cfg = ps->cfg,
                                        .boot_id = secret64() | 1,
                                        .data_ports = (uint8_t)ps->shards,
                                        .history = ps->history};
    int rc;

    parts.protocols = agg_protocols(&parts.protocols_known);
    rc = registry_host_open(&ps->common, &parts, monotonic_ns());
    return rc < 0 ? rc : registry_host_begin(&ps->common);
}

static int start_shards(struct ps *ps)
{
    const uint64_t reject_id = secret64() | 1;

    for (unsigned i = 0; i < ps->shards; i++) {
        struct shard *s = &ps->shard[i];
        int rc;

        s->jobs = &ps->jobs;
        s->number = i;
        s->boot_id = reject_id;
        s->stop_fd = ps->stop_fd;
        rc = shard_start(s, ps->cfg);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static int choose_kernels(struct ps *ps)
{
    char why[KERNELS_WHY];

    ps->jobs.kernels = kernels_chosen(why);
    if (ps->jobs.kernels != NULL)
        return 0;
    return log_fail(-EINVAL, "%s", why);
}

int ps_open(struct ps *ps, struct config *cfg, const char *file)
{
    int rc;

    ps->cfg = cfg;
    ps->started = monotonic_ns();
    ps->history = history_new(NULL);
    ps->shards = threads_of(cfg);
    ps->jobs.cfg = cfg;
    ps->jobs.reserved = &ps->common.reserved;
    ps->jobs.threads = ps->shards;
    ps->reload =
        (struct registry_reload){.file = file, .running = cfg, .context = ps, .load = load, .commit = commit};
    inet_ntop(AF_INET, &cfg->server.ip, ps->name, sizeof(ps->name));
    ps->reception.host = &ps->common;
    reception_init(&ps->reception, cfg);
    signals_block(); /* before there are threads, so that they take none */
    ps->signal_fd = signals_open();
    ps->stop_fd = eventfd(0, EFD_CLOEXEC);
    ps->control_fd = ps->handoff.wake = -1;
    if (ps->history == NULL)
        return log_fail(-ENOMEM, "no memory to begin with");
    if (ps->signal_fd < 0 || ps->stop_fd < 0 || handoff_open(&ps->handoff) < 0)
        return log_fail(-errno, "no descriptors to begin with: %s", strerror(errno));
    if ((rc = choose_kernels(ps)) < 0 || (rc = open_registry(ps)) < 0 || (rc = start_shards(ps)) < 0)
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
    reception_free(&ps->reception);
    registry_host_close(&ps->common);
    history_free(ps->history);
    handoff_free(&ps->handoff);
    if (ps->control_fd >= 0)
        close(ps->control_fd);
    close(ps->signal_fd);
    close(ps->stop_fd);
}
