#include "telemetry.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <rte_ethdev.h>
#include <rte_lcore.h>
#include <rte_telemetry.h>

#include "log.h"

/* DPDK passes no context to a command, and cannot take one back. */
static struct {
    pthread_mutex_t lock; /* held while a command runs; the datapath does not go away under it */
    struct datapath *dp;  /* NULL: stopped */
} shown = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void add_ip(struct rte_tel_data *d, const char *name, rte_be32_t ip)
{
    const uint8_t *b = (const uint8_t *)&ip;
    char text[16];

    snprintf(text, sizeof(text), "%u.%u.%u.%u", b[0], b[1], b[2], b[3]);
    rte_tel_data_add_dict_string(d, name, text);
}

static void add_mac(struct rte_tel_data *d, const char *name, const struct rte_ether_addr *mac)
{
    char text[RTE_ETHER_ADDR_FMT_SIZE];

    rte_ether_format_addr(text, sizeof(text), mac);
    rte_tel_data_add_dict_string(d, name, text);
}

static int find_port(const struct datapath *dp, const char *name)
{
    for (unsigned p = 0; p < dp->ports; p++)
        if (strcmp(dp->port[p].name, name) == 0)
            return (int)p;
    return -ENOENT;
}

static int show_info(struct datapath *dp, const char *params, struct rte_tel_data *d)
{
    (void)params;
    rte_tel_data_start_dict(d);
    rte_tel_data_add_dict_string(d, "version", SWAGG_VERSION);
    rte_tel_data_add_dict_int(d, "pid", getpid());
    add_mac(d, "mac", &dp->mac);
    add_ip(d, "ip", dp->ip);
    rte_tel_data_add_dict_int(d, "ports", (int)dp->ports);
    rte_tel_data_add_dict_int(d, "lcores", (int)dp->lcores);
    rte_tel_data_add_dict_int(d, "shards", (int)dp->shards);
    rte_tel_data_add_dict_u64(d, "mbufs", dp->mbufs->size);
    rte_tel_data_add_dict_u64(d, "mbufs_in_use", rte_mempool_in_use_count(dp->mbufs));
    return 0;
}

static int show_ports(struct datapath *dp, const char *params, struct rte_tel_data *d)
{
    (void)params;
    rte_tel_data_start_array(d, RTE_TEL_STRING_VAL);
    for (unsigned p = 0; p < dp->ports; p++)
        rte_tel_data_add_array_string(d, dp->port[p].name);
    return 0;
}

static void add_impairments(struct rte_tel_data *d, const char *direction, const struct port_direction *pd)
{
    char name[64];

    for (enum impair_kind k = 0; k < IMPAIR_KINDS; k++) {
        snprintf(name, sizeof(name), "%s_impaired_%s", direction, impair_kind_name(k));
        rte_tel_data_add_dict_u64(d, name, counter_read(&pd->impair.stats.hit[k]));
    }
}

static int show_port(struct datapath *dp, const char *params, struct rte_tel_data *d)
{
    int p = params == NULL ? -EINVAL : find_port(dp, params);
    const struct port *port = &dp->port[RTE_MAX(p, 0)];
    char device[RTE_DEV_NAME_MAX_LEN];
    struct rte_eth_stats stats = {0};
    struct rte_eth_link link = {0};
    uint16_t mtu = 0;

    if (p < 0)
        return p;
    rte_eth_dev_get_name_by_port(port->id, device);
    rte_eth_dev_get_mtu(port->id, &mtu);
    rte_eth_stats_get(port->id, &stats);
    rte_eth_link_get_nowait(port->id, &link);
    rte_tel_data_start_dict(d);
    rte_tel_data_add_dict_string(d, "name", port->name);
    rte_tel_data_add_dict_string(d, "device", device);
    add_mac(d, "mac", &port->mac);
    rte_tel_data_add_dict_int(d, "mtu", mtu);
    rte_tel_data_add_dict_int(d, "link_up", link.link_status == RTE_ETH_LINK_UP);
    rte_tel_data_add_dict_u64(d, "rx_frames", stats.ipackets);
    rte_tel_data_add_dict_u64(d, "rx_bytes", stats.ibytes);
    rte_tel_data_add_dict_u64(d, "rx_missed", stats.imissed);
    rte_tel_data_add_dict_u64(d, "rx_errors", stats.ierrors);
    rte_tel_data_add_dict_u64(d, "tx_frames", stats.opackets);
    rte_tel_data_add_dict_u64(d, "tx_bytes", stats.obytes);
    rte_tel_data_add_dict_u64(d, "tx_errors", stats.oerrors);
    add_impairments(d, "rx", &port->rx);
    add_impairments(d, "tx", &port->tx);
    return 0;
}

/* All ports together, or the one named. */
static int show_drops(struct datapath *dp, const char *params, struct rte_tel_data *d)
{
    int only = params == NULL ? -1 : find_port(dp, params);

    if (params != NULL && only < 0)
        return only;
    rte_tel_data_start_dict(d);
    for (enum drop reason = 0; reason < DROP_REASONS; reason++) {
        uint64_t sum = 0;

        for (unsigned p = 0; p < dp->ports; p++)
            if (only < 0 || p == (unsigned)only)
                sum += datapath_drops(dp, p, reason);
        rte_tel_data_add_dict_u64(d, drop_name(reason), sum);
    }
    return 0;
}

static int show_counters(struct datapath *dp, const char *params, struct rte_tel_data *d)
{
    (void)params;
    rte_tel_data_start_dict(d);
    for (enum event e = 0; e < EVENTS; e++)
        rte_tel_data_add_dict_u64(d, event_name(e), datapath_events(dp, e));
    return 0;
}

static int show_mac(struct datapath *dp, const char *params, struct rte_tel_data *d)
{
    struct bridge_station station;
    size_t cursor = 0;

    (void)params;
    rte_tel_data_start_dict(d);
    while (bridge_next(dp->bridge, &cursor, &station)) {
        struct rte_ether_addr mac;
        char text[RTE_ETHER_ADDR_FMT_SIZE];

        memcpy(mac.addr_bytes, station.mac, sizeof(mac.addr_bytes));
        rte_ether_format_addr(text, sizeof(text), &mac);
        rte_tel_data_add_dict_string(d, text, dp->port[station.port].name);
    }
    return 0;
}

static int show_lcores(struct datapath *dp, const char *params, struct rte_tel_data *d)
{
    (void)params;
    rte_tel_data_start_array(d, RTE_TEL_INT_VAL);
    for (unsigned i = 0; i < dp->lcores; i++)
        rte_tel_data_add_array_int(d, (int)dp->lcore[i]->eal_id);
    return 0;
}

static const struct lcore *find_lcore(const struct datapath *dp, const char *params)
{
    for (unsigned i = 0; params != NULL && i < dp->lcores; i++)
        if (dp->lcore[i]->eal_id == (unsigned)atoi(params))
            return dp->lcore[i];
    return NULL;
}

static void add_port_names(struct rte_tel_data *d, const char *name, const struct datapath *dp,
                           uint64_t ports)
{
    struct rte_tel_data *list = rte_tel_data_alloc();

    if (list == NULL)
        return;
    rte_tel_data_start_array(list, RTE_TEL_STRING_VAL);
    for (; ports != 0; ports &= ports - 1)
        rte_tel_data_add_array_string(list, dp->port[rte_bsf64(ports)].name);
    rte_tel_data_add_dict_container(d, name, list, 0);
}

static int show_lcore(struct datapath *dp, const char *params, struct rte_tel_data *d)
{
    const struct lcore *lc = find_lcore(dp, params);

    if (lc == NULL)
        return -ENOENT;
    rte_tel_data_start_dict(d);
    rte_tel_data_add_dict_int(d, "lcore", (int)lc->eal_id);
    rte_tel_data_add_dict_int(d, "cpu", rte_lcore_to_cpu_id((int)lc->eal_id));
    add_port_names(d, "rx", dp, lc->rx);
    add_port_names(d, "tx", dp, lc->tx);
    rte_tel_data_add_dict_int(d, "shards", __builtin_popcountll(lc->shards));
    for (enum event e = 0; e < EVENTS; e++)
        rte_tel_data_add_dict_u64(d, event_name(e), counter_read(&lc->counters.event[e]));
    return 0;
}

static const struct {
    const char *name;
    int (*show)(struct datapath *dp, const char *params, struct rte_tel_data *d);
    const char *help;
} commands[] = {
    {"/swagg/info", show_info, "Version, addresses, sizes"},
    {"/swagg/ports", show_ports, "Names of the ports"},
    {"/swagg/port", show_port, "Device, link, frames of a port. Parameter: its name"},
    {"/swagg/drops", show_drops, "Dropped frames by reason. Optional parameter: a port's name"},
    {"/swagg/counters", show_counters, "What was done with the other frames"},
    {"/swagg/mac", show_mac, "Stations and the ports they were heard on"},
    {"/swagg/lcores", show_lcores, "Polling lcores"},
    {"/swagg/lcore", show_lcore, "Tasks and counters of an lcore. Parameter: its number"},
};

static int run_command(const char *name, const char *params, struct rte_tel_data *d)
{
    int rc = -ENOENT;

    pthread_mutex_lock(&shown.lock);
    for (unsigned i = 0; i < RTE_DIM(commands) && shown.dp != NULL; i++)
        if (strcmp(commands[i].name, name) == 0)
            rc = commands[i].show(shown.dp, params, d);
    pthread_mutex_unlock(&shown.lock);
    return rc;
}

int telemetry_start(struct datapath *dp)
{
    shown.dp = dp;
    for (unsigned i = 0; i < RTE_DIM(commands); i++) {
        int rc = rte_telemetry_register_cmd(commands[i].name, run_command, commands[i].help);

        if (rc < 0) {
            log_error("cannot register the telemetry command %s: %s", commands[i].name, strerror(-rc));
            return rc;
        }
    }
    return 0;
}

void telemetry_stop(void)
{
    pthread_mutex_lock(&shown.lock);
    shown.dp = NULL;
    pthread_mutex_unlock(&shown.lock);
}
