#include "control/control.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sys/epoll.h>
#include <sys/timerfd.h>

#include <rte_cycles.h>

#include "base/log.h"
#include "bridge/host.h"
#include "control/loop_guard.h"
#include "control/static_jobs.h"
#include "lcore/stalls.h"
#include "monotonic.h"
#include "registry/listening.h"
#include "registry/signals.h"

/* How many bursts of members' messages are handled before signals and timer are looked at again. Of
 * strangers' it is one: their JOINs may found jobs, which takes long. */
enum { MEMBERS_BURSTS = 16 };

/* The least time between two warnings that another station uses the switch's IP address: RFC 5227's
 * DEFEND_INTERVAL. */
static const uint64_t defence_interval_ns = 10 * NS_PER_SECOND;

static const uint64_t look_every_ns = NS_PER_SECOND; /* at how busy lcores are */

struct control {
    struct control_parts parts;
    struct lcore *lcore; /* the main one */
    int epoll, signals, timer;
    uint64_t mac_age_tick_ns, aged_at;
    uint64_t next_defence; /* when the next warning about the switch's IP address may be logged */
    bool drop_seen[DROP_KINDS];
    uint64_t links_up; /* bit p: port p, when last asked */
    struct stall_watch stalls;
    struct loop_guard loops;
    uint64_t looked_at; /* how busy the lcores are */
};

/* The first drop of each kind is logged, with what it means. */
static void report_drops(struct control *c)
{
    for (unsigned d = 0; d < DROP_KINDS; d++)
        for (uint64_t left = ports_there(c->parts.ports); left != 0 && !c->drop_seen[d]; left &= left - 1) {
            const unsigned p = rte_bsf64(left);

            if (drop_name(d) == NULL || lcores_drops(c->parts.lcores, p, d) == 0)
                continue;
            c->drop_seen[d] = true;
            log_notice("first drop of kind %s, on port %s: %s", drop_name(d), c->parts.port[p].name,
                       drop_meaning(d));
        }
}

static void age_stations(struct control *c, uint64_t now)
{
    if (now - c->aged_at < c->mac_age_tick_ns)
        return;
    c->aged_at = now;
    bridge_tables_age(c->parts.bridge, c->parts.vlans->n);
}

/* Counts frames that the devices lost before any lcore saw them. */
static void count_missed(struct control *c)
{
    for (uint64_t left = ports_there(c->parts.ports); left != 0; left &= left - 1) {
        struct port *port = &c->parts.port[rte_bsf64(left)];

        count_drop(&c->lcore->counters, rte_bsf64(left), DROP_RX_MISSED,
                   (unsigned)port->device->missed(port));
    }
}

/* The link of this port has come up. */
static void greet(struct control *c, unsigned p)
{
    host_announce(&c->lcore->host, p);
    loop_guard_probe(&c->loops, p);
}

/* Stations behind a dead link may appear at another port, so they are forgotten: frames to them are flooded
 * until they are heard again. */
static void watch_links(struct control *c)
{
    for (uint64_t left = ports_there(c->parts.ports); left != 0; left &= left - 1) {
        const unsigned p = rte_bsf64(left);
        struct port *port = &c->parts.port[p];
        bool was_up = c->links_up & RTE_BIT64(p), up;

        if (port->device->follow != NULL && port->device->follow(port)) {
            lcores_wake(c->parts.lcores); /* they wait for frames of the former */
            c->links_up &= ~RTE_BIT64(p); /* the link of another interface */
            was_up = false;
        }
        up = port_is_up(port);
        if (up == was_up)
            continue;
        c->links_up ^= RTE_BIT64(p);
        log_notice("port %s: link is %s", port->name, up ? "up" : "down");
        if (up)
            greet(c, p);
        else
            bridge_tables_forget(c->parts.bridge, c->parts.vlans->n, (int)p);
    }
}

/* Warns, now and then, that another station uses the switch's address. */
static void watch_claims(struct control *c, uint64_t now)
{
    char mac[NET_MAC_TEXT_MAX];
    struct net_mac station;
    uint8_t port;

    if (now < c->next_defence || !sighting_take(c->parts.claim, &station, &port))
        return;
    c->next_defence = now + defence_interval_ns;
    net_mac_text(mac, &station);
    log_warning("station %s on port %s uses the switch's IP address, or forges it: what it sends under it is "
                "dropped; give it another, or change switch.ip",
                mac, c->parts.port[port].name);
    for (uint64_t left = ports_there(c->parts.ports); left != 0; left &= left - 1)
        host_announce(&c->lcore->host, rte_bsf64(left));
}

static void look_at_lcores(struct control *c, uint64_t now)
{
    if (now - c->looked_at < look_every_ns)
        return;
    c->looked_at = now;
    for (unsigned i = 0; i < c->parts.lcores->n; i++)
        lcore_look(c->parts.lcores->lcore[i], rte_rdtsc());
}

static void tick(struct control *c)
{
    uint64_t expirations;

    if (read(c->timer, &expirations, sizeof(expirations)) != sizeof(expirations))
        return;
    static_jobs_tick(c->parts.static_jobs, registrar_tick(c->parts.registrar));
    registry_host_list_members(&c->parts.registrar->common, &c->parts.inbox->rules.members);
    age_stations(c, monotonic_ns());
    watch_links(c);
    watch_claims(c, monotonic_ns());
    loop_guard_tick(&c->loops, monotonic_ns());
    count_missed(c);
    report_drops(c);
    look_at_lcores(c, monotonic_ns());
    stalls_tell(&c->stalls, c->parts.lcores->lcore, c->parts.lcores->n, monotonic_ns());
}

/* Whether there may be more of this line. */
static bool take_burst(struct control *c, enum inbox_line line)
{
    struct rte_mbuf *messages[INBOX_BURST];
    const unsigned n = inbox_take(c->parts.inbox, line, messages);

    for (unsigned i = 0; i < n; i++)
        registrar_receive(c->parts.registrar, messages[i]);
    return n > 0;
}

/* Handles as many messages as the budgets allow: members' first. If more are left, the main lcore is woken
 * again at once. */
static void take_messages(struct control *c)
{
    struct inbox *inbox = c->parts.inbox;
    bool more = true;

    inbox_clear(inbox); /* first, so that what comes from now on wakes us again */
    for (unsigned i = 0; i < MEMBERS_BURSTS && more; i++)
        more = take_burst(c, INBOX_MEMBERS);
    if (take_burst(c, INBOX_STRANGERS)) {
        registry_host_list_members(&c->parts.registrar->common,
                                   &inbox->rules.members); /* they may be some now */
        more = true;
    }
    if (more)
        inbox_wake(inbox);
}

static int watch(struct control *c, int fd)
{
    struct epoll_event e = {.events = EPOLLIN, .data.fd = fd};

    if (fd < 0 || epoll_ctl(c->epoll, EPOLL_CTL_ADD, fd, &e) < 0)
        return -errno;
    return 0;
}

static int open_timer(struct control *c, const struct config *cfg)
{
    const struct timespec every = {.tv_nsec =
                                       listening_ask_every_ms(cfg->timers.lost_after_ms) * (long)NS_PER_MS};
    const struct itimerspec t = {.it_interval = every, .it_value = every};

    c->timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    if (c->timer < 0 || timerfd_settime(c->timer, 0, &t, NULL) < 0)
        return -errno;
    return watch(c, c->timer);
}

void control_follow(struct control *c, const struct config *cfg)
{
    ctl_intake_rules_follow(&c->parts.inbox->rules, cfg->limits.workers);
    loop_guard_init(&c->loops, &cfg->loops);
    c->mac_age_tick_ns = (uint64_t)cfg->timers.mac_age_s * NS_PER_SECOND / BRIDGE_AGE_TICKS;
}

/* When it next looks their links will have come up. */
void control_expect(struct control *c, uint64_t ports)
{
    c->links_up &= ~ports;
    loop_guard_forget(&c->loops, ports);
}

int control_open(struct control **out, const struct control_parts *parts, const struct config *cfg)
{
    struct control *c = calloc(1, sizeof(*c));
    int rc;

    *out = NULL;
    if (c == NULL)
        return -ENOMEM;
    c->parts = *parts;
    c->lcore = lcores_main(parts->lcores);
    c->signals = c->timer = -1;
    c->loops = (struct loop_guard){.loops = parts->loops,
                                   .port = parts->port,
                                   .ports = parts->ports,
                                   .host = &c->lcore->host,
                                   .bridge = parts->bridge,
                                   .networks = parts->vlans->n};
    control_follow(c, cfg);
    c->epoll = epoll_create1(EPOLL_CLOEXEC);
    rc = c->epoll < 0 ? -errno : 0;
    if (rc == 0) {
        c->signals = signals_open();
        rc = watch(c, c->signals);
    }
    if (rc == 0)
        rc = open_timer(c, cfg);
    if (rc == 0)
        rc = watch(c, parts->inbox->wakeup);
    if (rc == 0)
        rc = watch(c, parts->operators->wake);
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
    c->links_up = ~UINT64_C(0); /* so that only links that are down are logged */
    watch_links(c);
    for (uint64_t left = ports_there(c->parts.ports) & c->links_up; left != 0; left &= left - 1)
        greet(c, rte_bsf64(left));
    for (;;) {
        struct epoll_event e;
        int signal;

        if (epoll_wait(c->epoll, &e, 1, -1) < 0 && errno != EINTR) {
            int rc = -errno;

            return log_fail(rc, "the main thread cannot wait for events: %s", strerror(-rc));
        }
        signal = signals_take(c->signals);
        if (signal == SIGNALS_RELOAD)
            registry_reload_on_signal(&c->parts.registrar->common, c->parts.reload);
        else if (signal > 0)
            return signal;
        take_messages(c);
        handoff_serve(c->parts.operators);
        tick(c);
        send_flush(&c->lcore->send);
    }
}
