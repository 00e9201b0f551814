#include "control.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>

#include "clock.h"
#include "host.h"
#include "log.h"
#include "signals.h"

enum { CONTROL_BURST = 32 };

struct control {
    struct datapath *dp;
    struct registrar *registrar;
    int epoll, signals, timer;
    uint64_t mac_age_tick_ns, aged_at;
    bool drop_seen[DROP_REASONS];
    uint64_t links_up; /* bit p: port p, when last asked */
};

/* A drop reason says what it means the first time that it happens. */
static void report_drops(struct control *c)
{
    for (enum drop d = 0; d < DROP_REASONS; d++)
        for (unsigned p = 0; p < c->dp->ports && !c->drop_seen[d]; p++) {
            if (datapath_drops(c->dp, p, d) == 0)
                continue;
            c->drop_seen[d] = true;
            log_notice("first drop of kind %s, on port %s: %s", drop_name(d), c->dp->port[p].name,
                       drop_meaning(d));
        }
}

static void age_stations(struct control *c, uint64_t now)
{
    if (now - c->aged_at < c->mac_age_tick_ns)
        return;
    c->aged_at = now;
    bridge_age(c->dp->bridge);
}

/* Losses before the first lcore saw the frame. */
static void count_missed(struct control *c)
{
    for (unsigned p = 0; p < c->dp->ports; p++)
        lcore_drop(datapath_main_lcore(c->dp), p, DROP_RX_MISSED,
                   (unsigned)c->dp->port[p].device->missed(&c->dp->port[p]));
}

/* Stations behind a dead link may come up elsewhere: until they are heard, frames to them are flooded. */
static void watch_links(struct control *c)
{
    for (unsigned p = 0; p < c->dp->ports; p++) {
        const struct port *port = &c->dp->port[p];
        bool was_up = c->links_up & RTE_BIT64(p), up = port->device->is_up(port);

        if (up == was_up)
            continue;
        c->links_up ^= RTE_BIT64(p);
        log_notice("port %s: link is %s", port->name, up ? "up" : "down");
        if (up)
            host_announce(datapath_main_lcore(c->dp), p);
        else
            bridge_forget(c->dp->bridge, (int)p);
    }
}

static void tick(struct control *c)
{
    uint64_t expirations;

    if (read(c->timer, &expirations, sizeof(expirations)) != sizeof(expirations))
        return;
    registrar_tick(c->registrar);
    age_stations(c, clock_ns());
    watch_links(c);
    count_missed(c);
    report_drops(c);
}

static void take_messages(struct control *c)
{
    struct rte_mbuf *messages[CONTROL_BURST];
    eventfd_t wakeups;
    unsigned n;

    eventfd_read(c->dp->control_wakeup, &wakeups); /* first, so that what comes from now on wakes us again */
    do {
        n = rte_ring_dequeue_burst(c->dp->to_control, (void **)messages, CONTROL_BURST, NULL);
        for (unsigned i = 0; i < n; i++)
            registrar_receive(c->registrar, messages[i]);
    } while (n == CONTROL_BURST);
}

void control_hand_over(struct lcore *lc, unsigned port, struct rte_mbuf *m)
{
    m->port = (uint16_t)port;
    if (rte_ring_enqueue(lc->dp->to_control, m) == 0) {
        eventfd_write(lc->dp->control_wakeup, 1);
        return;
    }
    lcore_drop(lc, port, DROP_CONTROL_FULL, 1);
    rte_pktmbuf_free(m);
}

static int watch(struct control *c, int fd)
{
    struct epoll_event e = {.events = EPOLLIN, .data.fd = fd};

    if (fd < 0 || epoll_ctl(c->epoll, EPOLL_CTL_ADD, fd, &e) < 0)
        return -errno;
    return 0;
}

static int open_signals(struct control *c)
{
    c->signals = signals_open();
    return watch(c, c->signals);
}

/* Ten times as often as the registry asks for its tick, within reason. */
static int open_timer(struct control *c, const struct config *cfg)
{
    uint32_t ms = RTE_MIN(cfg->timers.lost_after_ms / 100 + 1, 100u);
    const struct timespec every = {.tv_nsec = ms * 1000000L};
    const struct itimerspec t = {.it_interval = every, .it_value = every};

    c->timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    if (c->timer < 0 || timerfd_settime(c->timer, 0, &t, NULL) < 0)
        return -errno;
    return watch(c, c->timer);
}

int control_open(struct control **out, struct datapath *dp, struct registrar *registrar,
                 const struct config *cfg)
{
    struct control *c = calloc(1, sizeof(*c));
    int rc;

    *out = NULL;
    if (c == NULL)
        return -ENOMEM;
    c->dp = dp;
    c->registrar = registrar;
    c->signals = c->timer = -1;
    c->mac_age_tick_ns = (uint64_t)cfg->timers.mac_age_s * 1000000000u / BRIDGE_AGE_TICKS;
    c->epoll = epoll_create1(EPOLL_CLOEXEC);
    rc = c->epoll < 0 ? -errno : 0;
    if (rc == 0)
        rc = open_signals(c);
    if (rc == 0)
        rc = open_timer(c, cfg);
    if (rc == 0)
        rc = watch(c, dp->control_wakeup);
    if (rc < 0) {
        log_error("cannot set up control: %s", strerror(-rc));
        control_close(c);
        return rc;
    }
    *out = c;
    return 0;
}

void control_close(struct control *c)
{
    if (c == NULL)
        return;
    if (c->timer >= 0)
        close(c->timer);
    if (c->signals >= 0)
        close(c->signals);
    if (c->epoll >= 0)
        close(c->epoll);
    free(c);
}

int control_run(struct control *c)
{
    c->links_up = ~UINT64_C(0); /* only a link that is down is worth a word */
    watch_links(c);
    for (unsigned p = 0; p < c->dp->ports; p++)
        if (c->links_up & RTE_BIT64(p))
            host_announce(datapath_main_lcore(c->dp), p);
    for (;;) {
        struct epoll_event e;
        int stop;

        if (epoll_wait(c->epoll, &e, 1, -1) < 0 && errno != EINTR) {
            int rc = -errno;

            log_error("the main thread cannot wait for events: %s", strerror(-rc));
            return rc;
        }
        stop = signals_take(c->signals);
        if (stop > 0)
            return stop;
        take_messages(c);
        tick(c);
        output_flush(datapath_main_lcore(c->dp));
    }
}
