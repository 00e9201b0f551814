#include "banner.h"

#include <stdio.h>

#include <rte_ethdev.h>

#include "frame.h"
#include "log.h"

enum { LIST_MAX = 512 };

static const char *port_list(char text[LIST_MAX], const struct datapath *dp, uint64_t ports)
{
    int n = snprintf(text, LIST_MAX, "%s", ports == 0 ? " -" : "");

    for (; ports != 0 && n < LIST_MAX; ports &= ports - 1)
        n += snprintf(text + n, LIST_MAX - (size_t)n, " %s", dp->port[rte_bsf64(ports)].name);
    return text;
}

static void show_port(const struct port *port)
{
    char mac[RTE_ETHER_ADDR_FMT_SIZE], device[RTE_DEV_NAME_MAX_LEN];

    rte_ether_format_addr(mac, sizeof(mac), &port->mac);
    rte_eth_dev_get_name_by_port(port->id, device);
    log_notice("port %s: %s, MAC %s, MTU %u%s%s", port->name, device, mac, port->max_frame - FRAME_PORT_BYTES,
               port->rx.impaired ? ", impaired on receiving" : "",
               port->tx.impaired ? ", impaired on sending" : "");
}

static void show_lcore(const struct datapath *dp, const struct lcore *lc)
{
    char rx[LIST_MAX], tx[LIST_MAX];

    log_notice("lcore %u on CPU %d: receives from%s, sends to%s, aggregates %u of %u shards", lc->eal_id,
               lcore_cpu(lc), port_list(rx, dp, lc->rx), port_list(tx, dp, lc->tx),
               (unsigned)__builtin_popcountll(lc->shards), dp->shards);
}

void banner_ready(const struct datapath *dp)
{
    char mac[RTE_ETHER_ADDR_FMT_SIZE];
    const uint8_t *ip = (const uint8_t *)&dp->ip;

    for (unsigned p = 0; p < dp->ports; p++)
        show_port(&dp->port[p]);
    for (unsigned i = 0; i < dp->lcores; i++)
        show_lcore(dp, dp->lcore[i]);
    rte_ether_format_addr(mac, sizeof(mac), &dp->mac);
    if (dp->ip == 0)
        log_notice("ready: %u ports, MAC %s, no IP: switching only", dp->ports, mac);
    else
        log_notice("ready: %u ports, MAC %s, IP %u.%u.%u.%u", dp->ports, mac, ip[0], ip[1], ip[2], ip[3]);
}
