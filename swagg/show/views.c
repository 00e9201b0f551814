/* Views of ports, lcores and the bridge. */
#include "show/views.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <rte_malloc.h>

#include "base/frame.h"
#include "base/log.h"
#include "lcore/stalls.h"
#include "protocols.h"
#include "version.h"

static void add_ip(struct rte_tel_data *d, const char *name, rte_be32_t ip)
{
    const uint8_t *b = (const uint8_t *)&ip;
    char text[16];

    snprintf(text, sizeof(text), "%u.%u.%u.%u", b[0], b[1], b[2], b[3]);
    rte_tel_data_add_dict_string(d, name, text);
}

static void add_mac(struct rte_tel_data *d, const char *name, const struct net_mac *mac)
{
    char text[NET_MAC_TEXT_MAX];

    net_mac_text(text, mac);
    rte_tel_data_add_dict_string(d, name, text);
}

static int find_port(const struct show_parts *parts, const char *name)
{
    for (unsigned p = 0; p < parts->ports; p++)
        if (strcmp(parts->port[p].name, name) == 0)
            return (int)p;
    return -ENOENT;
}

/* Adds DPDK's memory, and how much of it the jobs' pools have. */
static void add_memory(struct rte_tel_data *d, const struct jobs *jobs)
{
    struct rte_malloc_socket_stats heap;
    uint64_t total = 0, used = 0;

    for (unsigned i = 0; i < rte_socket_count(); i++)
        if (rte_malloc_get_socket_stats(rte_socket_id_by_idx(i), &heap) == 0) {
            total += heap.heap_totalsz_bytes;
            used += heap.heap_allocsz_bytes;
        }
    rte_tel_data_add_dict_u64(d, "memory_bytes", total);
    rte_tel_data_add_dict_u64(d, "memory_bytes_in_use", used);
    rte_tel_data_add_dict_u64(d, "pool_bytes", jobs->bytes_max);
    rte_tel_data_add_dict_u64(d, "pool_bytes_in_use", __atomic_load_n(&jobs->bytes, __ATOMIC_RELAXED));
}

int view_info(const struct show_parts *parts, const char *params, struct rte_tel_data *d)
{
    (void)params;
    rte_tel_data_start_dict(d);
    rte_tel_data_add_dict_string(d, "version", build_version);
    rte_tel_data_add_dict_int(d, "pid", getpid());
    add_mac(d, "mac", &parts->mac);
    add_ip(d, "ip", parts->ip);
    rte_tel_data_add_dict_int(d, "ports", (int)parts->ports);
    rte_tel_data_add_dict_int(d, "lcores", (int)parts->lcores->n);
    rte_tel_data_add_dict_int(d, "shards", (int)parts->shards->n);
    rte_tel_data_add_dict_u64(d, "mbufs", parts->mbufs->size);
    rte_tel_data_add_dict_u64(d, "mbufs_in_use", rte_mempool_in_use_count(parts->mbufs));
    add_memory(d, parts->jobs);
    rte_tel_data_add_dict_u64(d, "log_lines_lost", log_lost());
    return 0;
}

int view_ports(const struct show_parts *parts, const char *params, struct rte_tel_data *d)
{
    (void)params;
    rte_tel_data_start_array(d, RTE_TEL_STRING_VAL);
    for (unsigned p = 0; p < parts->ports; p++)
        rte_tel_data_add_array_string(d, parts->port[p].name);
    return 0;
}

static void add_impairments(struct rte_tel_data *d, const char *direction, const struct port_queue queue[],
                            unsigned queues)
{
    char name[64];

    for (enum impair_kind k = 0; k < IMPAIR_KINDS; k++) {
        uint64_t hits = 0;

        for (unsigned q = 0; q < queues; q++)
            hits += counter_read(&queue[q].impair.stats.hit[k]);
        snprintf(name, sizeof(name), "%s_impaired_%s", direction, impair_kind_name(k));
        rte_tel_data_add_dict_u64(d, name, hits);
    }
}

int view_port(const struct show_parts *parts, const char *params, struct rte_tel_data *d)
{
    const struct port *port;
    int p = params == NULL ? -EINVAL : find_port(parts, params);
    struct port_stats stats;

    if (p < 0)
        return p;
    port = &parts->port[p];
    port->device->stats(port, &stats);
    rte_tel_data_start_dict(d);
    rte_tel_data_add_dict_string(d, "name", port->name);
    rte_tel_data_add_dict_string(d, "device", port->device_name);
    add_mac(d, "mac", &port->mac);
    rte_tel_data_add_dict_int(d, "mtu", port->max_frame - FRAME_PORT_BYTES);
    rte_tel_data_add_dict_int(d, "link_up", port->device->is_up(port));
    rte_tel_data_add_dict_int(d, "gone", port->device->is_gone != NULL && port->device->is_gone(port));
    rte_tel_data_add_dict_u64(d, "returns", stats.returns);
    rte_tel_data_add_dict_int(d, "compares_ip_checksum",
                              (port->rx_checksums & RTE_MBUF_F_RX_IP_CKSUM_MASK) != 0);
    rte_tel_data_add_dict_int(d, "compares_udp_checksum",
                              (port->rx_checksums & RTE_MBUF_F_RX_L4_CKSUM_MASK) != 0);
    rte_tel_data_add_dict_u64(d, "rx_frames", stats.rx_frames);
    rte_tel_data_add_dict_u64(d, "rx_bytes", stats.rx_bytes);
    rte_tel_data_add_dict_u64(d, "rx_merged", stats.rx_merged);
    rte_tel_data_add_dict_u64(d, "rx_missed", lcores_drops(parts->lcores, (unsigned)p, DROP_RX_MISSED));
    rte_tel_data_add_dict_u64(d, "rx_errors", stats.rx_errors);
    rte_tel_data_add_dict_u64(d, "tx_frames", stats.tx_frames);
    rte_tel_data_add_dict_u64(d, "tx_bytes", stats.tx_bytes);
    rte_tel_data_add_dict_u64(d, "tx_merged", stats.tx_merged);
    rte_tel_data_add_dict_u64(d, "tx_errors", stats.tx_errors);
    add_impairments(d, "rx", port->rx, port->rx_queues);
    add_impairments(d, "tx", port->tx, port->tx_queues);
    return 0;
}

/* Drops of all ports together, or of the one named. */
int view_drops(const struct show_parts *parts, const char *params, struct rte_tel_data *d)
{
    int only = params == NULL ? -1 : find_port(parts, params);

    if (params != NULL && only < 0)
        return only;
    rte_tel_data_start_dict(d);
    for (unsigned kind = 0; kind < DROP_KINDS; kind++) {
        uint64_t sum = 0;

        if (drop_name(kind) == NULL)
            continue;
        for (unsigned p = 0; p < parts->ports; p++)
            if (only < 0 || p == (unsigned)only)
                sum += lcores_drops(parts->lcores, p, kind);
        rte_tel_data_add_dict_u64(d, drop_name(kind), sum);
    }
    return 0;
}

int view_counters(const struct show_parts *parts, const char *params, struct rte_tel_data *d)
{
    (void)params;
    rte_tel_data_start_dict(d);
    for (enum event e = 0; e < EVENTS; e++)
        rte_tel_data_add_dict_u64(d, event_name(e), lcores_events(parts->lcores, e));
    return 0;
}

static void add_verdicts(const struct show_parts *parts, unsigned id, struct rte_tel_data *d)
{
    const struct agg_protocol *protocol = agg_protocol_find(id);

    for (unsigned r = 0; protocol != NULL && r < protocol->reasons; r++)
        if (!protocol->reason[r].strange)
            rte_tel_data_add_dict_u64(d, protocol->reason[r].name, lcores_verdicts(parts->lcores, id, r));
}

int view_verdicts(const struct show_parts *parts, const char *params, struct rte_tel_data *d)
{
    (void)params;
    rte_tel_data_start_dict(d);
    for (unsigned id = 0; id < COUNTED_PROTOCOLS; id++)
        add_verdicts(parts, id, d);
    return 0;
}

/* "MAC PORT" each: colons are not allowed in a dictionary's keys. */
int view_mac(const struct show_parts *parts, const char *params, struct rte_tel_data *d)
{
    struct bridge_station station;
    size_t cursor = 0;

    (void)params;
    rte_tel_data_start_array(d, RTE_TEL_STRING_VAL);
    while (bridge_next(parts->bridge, &cursor, &station)) {
        const uint8_t *m = station.mac;
        char text[64];

        snprintf(text, sizeof(text), "%02x:%02x:%02x:%02x:%02x:%02x %s", m[0], m[1], m[2], m[3], m[4], m[5],
                 parts->port[station.port].name);
        rte_tel_data_add_array_string(d, text);
    }
    return 0;
}

int view_lcores(const struct show_parts *parts, const char *params, struct rte_tel_data *d)
{
    (void)params;
    rte_tel_data_start_array(d, RTE_TEL_INT_VAL);
    for (unsigned i = 0; i < parts->lcores->n; i++)
        rte_tel_data_add_array_int(d, (int)parts->lcores->lcore[i]->eal_id);
    return 0;
}

static const struct lcore *find_lcore(const struct show_parts *parts, const char *params)
{
    for (unsigned i = 0; params != NULL && i < parts->lcores->n; i++)
        if (parts->lcores->lcore[i]->eal_id == (unsigned)atoi(params))
            return parts->lcores->lcore[i];
    return NULL;
}

static void add_rx_names(struct rte_tel_data *list, const struct lcore *lc)
{
    const struct receive *r = &lc->receive;
    char name[PORT_QUEUE_NAME_MAX];

    for (unsigned i = 0; i < r->queues; i++) {
        const struct port *port = &r->port[r->queue[i].port];

        rte_tel_data_add_array_string(list, port_queue_name(name, port, port->rx_queues, r->queue[i].queue));
    }
}

static void add_tx_names(struct rte_tel_data *list, const struct lcore *lc)
{
    const struct send *s = &lc->send;
    char name[PORT_QUEUE_NAME_MAX];

    for (uint64_t ports = s->own; ports != 0; ports &= ports - 1) {
        const unsigned p = rte_bsf64(ports);
        const struct port *port = &s->port[p];

        rte_tel_data_add_array_string(list, port_queue_name(name, port, port->tx_queues, s->queue[p]));
    }
}

static void add_names(struct rte_tel_data *d, const char *name, const struct lcore *lc,
                      void (*add)(struct rte_tel_data *, const struct lcore *))
{
    struct rte_tel_data *list = rte_tel_data_alloc();

    if (list == NULL)
        return;
    rte_tel_data_start_array(list, RTE_TEL_STRING_VAL);
    add(list, lc);
    rte_tel_data_add_dict_container(d, name, list, 0);
}

/* Adds a thread's times; 0 if the kernel does not tell them. */
static void add_times(struct rte_tel_data *d, const struct lcore *lc)
{
    struct stall_times times = {0};

    stall_times(lc, &times);
    rte_tel_data_add_dict_u64(d, "ran_ms", times.ran_ns / 1000000);
    rte_tel_data_add_dict_u64(d, "waited_ms", times.waited_ns / 1000000);
}

int view_lcore(const struct show_parts *parts, const char *params, struct rte_tel_data *d)
{
    const struct lcore *lc = find_lcore(parts, params);

    if (lc == NULL)
        return -ENOENT;
    rte_tel_data_start_dict(d);
    rte_tel_data_add_dict_int(d, "lcore", (int)lc->eal_id);
    rte_tel_data_add_dict_int(d, "cpu", lcore_cpu(lc));
    add_names(d, "rx", lc, add_rx_names);
    add_names(d, "tx", lc, add_tx_names);
    rte_tel_data_add_dict_int(d, "shards", __builtin_popcountll(lc->shards));
    for (enum event e = 0; e < EVENTS; e++)
        rte_tel_data_add_dict_u64(d, event_name(e), counter_read(&lc->counters.event[e]));
    add_times(d, lc);
    return 0;
}
