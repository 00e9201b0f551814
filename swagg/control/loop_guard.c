#include "control/loop_guard.h"

#include <inttypes.h>

#include "base/log.h"
#include "monotonic.h"

enum { QUIET_S = 10 };

void loop_guard_init(struct loop_guard *g, const struct config_loops *cfg)
{
    g->finds = cfg->find;
    g->probe_ns = cfg->probe_s * NS_PER_SECOND;
    g->block_ns = cfg->block_s * NS_PER_SECOND;
}

void loop_guard_forget(struct loop_guard *g, uint64_t ports)
{
    for (; ports != 0; ports &= ports - 1)
        g->open_at[rte_bsf64(ports)] = 0;
}

void loop_guard_probe(const struct loop_guard *g, unsigned port)
{
    if (g->finds)
        host_probe(g->host, port, g->loops->number[port]);
}

static void probe_all(const struct loop_guard *g)
{
    for (uint64_t left = ports_there(g->ports); left != 0; left &= left - 1)
        loop_guard_probe(g, rte_bsf64(left));
}

/* What is known of stations there may have come round the loop. */
static void block(struct loop_guard *g, unsigned p, uint64_t now)
{
    port_close_for(&g->port[p], PORT_BLOCKED, true);
    g->open_at[p] = now + g->block_ns;
    bridge_tables_forget(g->bridge, g->networks, (int)p);
}

static void found(struct loop_guard *g, const struct loops_returned *r, uint64_t now)
{
    const unsigned p = RTE_MAX(r->left, r->at);
    const bool blocks = (ports_there(g->ports) & (ports_there(g->ports) - 1)) != 0 && g->block_ns > 0;

    if (port_is_closed_for(&g->port[p], PORT_BLOCKED) || (!blocks && now < g->quiet_until))
        return;
    g->quiet_until = now + QUIET_S * NS_PER_SECOND;
    count_event(g->host->counters, EVENT_LOOPS_FOUND, 1);
    if (blocks) {
        block(g, p, now);
        log_warning(
            "port %s: a loop: a probe that left by port %s has come back by port %s. Port %s is blocked "
            "for %" PRIu64 " s (loops.block_s); swaggctl port up %s opens it",
            g->port[p].name, g->port[r->left].name, g->port[r->at].name, g->port[p].name,
            g->block_ns / NS_PER_SECOND, g->port[p].name);
    } else {
        log_warning(
            "port %s: a loop: a probe that left by port %s has come back by port %s; no port is blocked "
            "(loops.block_s, or there is one port only)",
            g->port[p].name, g->port[r->left].name, g->port[r->at].name);
    }
}

static void watch_movers(struct loop_guard *g, uint64_t now)
{
    char mac[NET_MAC_TEXT_MAX];
    struct net_mac station;
    uint8_t port;

    if (!sighting_take(&g->loops->mover, &station, &port))
        return;
    probe_all(g);
    if (now < g->quiet_until)
        return;
    g->quiet_until = now + QUIET_S * NS_PER_SECOND;
    count_event(g->host->counters, EVENT_MOVERS, 1);
    log_warning(
        "station %s moves between ports all the time, just now to port %s: a loop, or one MAC address "
        "used twice; %s",
        net_mac_text(mac, &station), g->port[port].name,
        g->finds ? "looking for a loop by probes" : "no probes look for a loop (loops.find)");
}

/* Ports that have been blocked for long enough, and those that the operator has opened. */
static void open_ports(struct loop_guard *g, uint64_t now)
{
    for (uint64_t left = ports_there(g->ports); left != 0; left &= left - 1) {
        const unsigned p = rte_bsf64(left);

        if (g->open_at[p] == 0)
            continue;
        if (port_is_closed_for(&g->port[p], PORT_BLOCKED) && now < g->open_at[p])
            continue;
        log_notice("port %s: open again", g->port[p].name);
        port_close_for(&g->port[p], PORT_BLOCKED, false);
        g->open_at[p] = 0;
        loop_guard_probe(g, p);
    }
}

void loop_guard_tick(struct loop_guard *g, uint64_t now)
{
    struct loops_returned returned;

    if (loops_take(g->loops, &returned))
        found(g, &returned, now);
    watch_movers(g, now);
    open_ports(g, now);
    if (g->probe_ns == 0 || now - g->probed_at < g->probe_ns)
        return;
    g->probed_at = now;
    probe_all(g);
}
