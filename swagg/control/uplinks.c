#include "control/uplinks.h"

#include <inttypes.h>

#include <rte_random.h>

#include "base/counter.h"
#include "base/log.h"
#include "base/uplink_ports.h"
#include "monotonic.h"
#include "port/frame.h"
#include "port/port.h"
#include "views/view.h"
#include "wire/control.h"
#include "wire/path.h"

#define PATIENCE_NS (5 * NS_PER_SECOND) /* for ARP, before the log says that nobody answers */

enum { QUESTION_MAX = 9600 };

void uplinks_init(struct uplinks *u, const struct config *cfg)
{
    u->n = cfg->uplinks;
    for (unsigned i = 0; i < u->n; i++) {
        const struct config_uplink *from = &cfg->uplink[i];
        struct uplink *to = &u->uplink[i];

        to->parent = from->parent;
        to->network = from->network;
        to->next = from->via != 0 ? from->via : from->parent;
        to->neighbour = neighbours_add(u->neighbours, to->network, to->next);
        uplink_path_init(&to->path, (uint16_t)cfg->mtu, (uint16_t)rte_rand());
    }
}

bool uplinks_find(const struct uplinks *u, unsigned uplink, struct net_mac *mac, uint8_t *port)
{
    return neighbours_find(u->neighbours, u->uplink[uplink].neighbour, mac, port);
}

uint16_t uplinks_payload_bytes(const struct uplinks *u, unsigned uplink)
{
    const uint16_t mtu = __atomic_load_n(&u->uplink[uplink].path.mtu, __ATOMIC_RELAXED);

    return mtu == 0 ? 0 : (uint16_t)(mtu - AGG_IP_UDP_BYTES);
}

/* False: the way is not known, or no buffer was free. */
static bool send_to(const struct uplinks *u, const struct uplink *to, uint16_t udp_port, const void *payload,
                    size_t bytes)
{
    struct post_address address = {.network = to->network, .ip = to->parent, .udp_port = udp_port};

    if (neighbours_find_other(u->neighbours, to->neighbour, &address.mac, &address.port))
        post_send(&u->post, UPLINK_CONTROL_PORT, &address, payload, bytes);
    return neighbours_find(u->neighbours, to->neighbour, &address.mac, &address.port) &&
           post_send(&u->post, UPLINK_CONTROL_PORT, &address, payload, bytes);
}

void uplinks_set_keyed(struct uplinks *u, unsigned uplink, bool keyed)
{
    neighbours_set_keyed(u->neighbours, u->uplink[uplink].neighbour, keyed);
}

void uplinks_prove(struct uplinks *u, unsigned uplink, const struct net_mac *mac, uint8_t port)
{
    neighbours_prove(u->neighbours, u->uplink[uplink].neighbour, mac, port);
}

void uplinks_send(struct uplinks *u, unsigned uplink, const void *payload, size_t bytes)
{
    if (!send_to(u, &u->uplink[uplink], CTL_PORT, payload, bytes))
        return;
    counter_add(&u->uplink[uplink].sent, 1);
    count_event(u->post.host->counters, EVENT_CONTROL_SENT, 1);
}

static int uplink_from(const struct uplinks *u, unsigned network, rte_be32_t ip)
{
    for (unsigned i = 0; i < u->n; i++)
        if (u->uplink[i].parent == ip && u->uplink[i].network == network)
            return (int)i;
    return -1;
}

int uplinks_receive(struct uplinks *u, const struct rte_mbuf *m, bool *control)
{
    const struct frame_udp *f = rte_pktmbuf_mtod(m, const struct frame_udp *);
    const int from = uplink_from(u, vlan_number(m), f->ip.src_addr);

    *control = from >= 0 && f->udp.src_port == RTE_BE16(CTL_PORT);
    if (*control) {
        counter_add(&u->uplink[from].received, 1);
        counter_set(&u->uplink[from].heard_at, monotonic_ns());
        return from;
    }
    if (from >= 0 &&
        uplink_path_answer(&u->uplink[from].path, f->payload, frame_payload_bytes(f), monotonic_ns()))
        return from;
    return -1;
}

static void ask_for_neighbour(struct uplinks *u, const struct uplink *to, uint64_t now)
{
    const uint64_t there = ports_there(u->ports);
    struct net_mac mac;
    uint8_t heard_on;
    int port;

    /* It may have been heard once more while its port was taken out. */
    if (neighbours_find(u->neighbours, to->neighbour, &mac, &heard_on) && (there & RTE_BIT64(heard_on)) == 0)
        neighbours_lose(u->neighbours, heard_on);
    if (!neighbours_is_due(u->neighbours, to->neighbour, now, &port))
        return;
    for (uint64_t left = there; left != 0; left &= left - 1)
        if (port < 0 || rte_bsf64(left) == (unsigned)port)
            host_ask(u->post.host, rte_bsf64(left), to->network, to->next);
}

static void ask_for_path(struct uplinks *u, struct uplink *to, uint64_t now)
{
    uint8_t payload[QUESTION_MAX], port;
    struct path_questions q;
    struct net_mac mac;

    if (!neighbours_find(u->neighbours, to->neighbour, &mac, &port))
        return; /* it could not be sent */
    uplink_path_ask(&to->path, now, &q);
    for (unsigned i = 0; i < q.n; i++) {
        path_build_question(payload, q.bytes[i], q.tag, 0);
        send_to(u, to, u->probe_port, payload, q.bytes[i]);
    }
}

static void tell_of_neighbour(const struct uplinks *u, struct uplink *to, uint64_t now)
{
    char parent[VIEW_IP_MAX], next[VIEW_IP_MAX], text[NET_MAC_TEXT_MAX];
    struct net_mac mac;
    uint8_t port;

    view_ip(parent, to->parent);
    view_ip(next, to->next);
    if (neighbours_find(u->neighbours, to->neighbour, &mac, &port)) {
        if (!net_same_mac(&mac, &to->told_mac))
            log_notice("uplink to %s: %s is %s, on port %s", parent, next, net_mac_text(text, &mac),
                       u->port[port].name);
        to->told_mac = mac;
    } else if (to->silent_since == 0) {
        to->silent_since = now;
    } else if (!to->told_silent && now - to->silent_since > PATIENCE_NS) {
        log_warning(
            "uplink to %s: nobody answers ARP requests for %s: is the switch up, and the address right? Its "
            "jobs wait until somebody does",
            parent, next);
        to->told_silent = true;
    }
}

static void tell_of_path(struct uplink *to)
{
    char parent[VIEW_IP_MAX];

    if (to->path.mtu == to->told_mtu)
        return;
    to->told_mtu = to->path.mtu;
    log_notice("uplink to %s: IP packets of %u bytes get there and back", view_ip(parent, to->parent),
               to->told_mtu);
}

void uplinks_cut(struct uplinks *u, unsigned port, const char *name)
{
    char parent[VIEW_IP_MAX];
    struct net_mac mac;
    uint8_t there;

    for (struct uplink *to = u->uplink; to < u->uplink + u->n; to++) {
        if (!neighbours_find(u->neighbours, to->neighbour, &mac, &there) || there != port)
            continue;
        log_warning(
            "uplink to %s: the operator has removed port %s, by which it was found: its jobs wait until "
            "it is found on another, and fail if that takes longer than the root waits for them "
            "(timers.lost_after_ms there)",
            view_ip(parent, to->parent), name);
        to->told_mac = (struct net_mac){0};
        to->silent_since = 0;
        to->told_silent = false;
    }
    neighbours_lose(u->neighbours, (uint8_t)port);
}

void uplinks_tick(struct uplinks *u, uint64_t now)
{
    for (struct uplink *to = u->uplink; to < u->uplink + u->n; to++) {
        ask_for_neighbour(u, to, now);
        ask_for_path(u, to, now);
        tell_of_neighbour(u, to, now);
        tell_of_path(to);
    }
}
