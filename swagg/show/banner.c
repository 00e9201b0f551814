#include "show/banner.h"

#include <stdio.h>

#include "base/log.h"
#include "port/frame.h"

enum { LIST_MAX = 512 };

static int append_queue(char text[LIST_MAX], int n, const struct port *port, unsigned queues, unsigned queue)
{
    char name[PORT_QUEUE_NAME_MAX];

    if (n < LIST_MAX)
        n += snprintf(text + n, LIST_MAX - (size_t)n, " %s", port_queue_name(name, port, queues, queue));
    return n;
}

/* The names of the queues that an lcore receives from, or sends to. */
static const char *queue_list(char text[LIST_MAX], const struct show_parts *parts, const struct lcore *lc,
                              bool tx)
{
    struct port_queue_id queue[PORT_QUEUES_MAX];
    const unsigned queues = tx ? lcore_tx_queues(lc, queue) : lcore_rx_queues(lc, queue);
    int n = snprintf(text, LIST_MAX, "%s", queues == 0 ? " -" : "");

    for (unsigned i = 0; i < queues; i++) {
        const struct port *port = &parts->port[queue[i].port];

        n = append_queue(text, n, port, tx ? port->tx_queues : port->rx_queues, queue[i].queue);
    }
    return text;
}

static void show_port(const struct port *port)
{
    char mac[NET_MAC_TEXT_MAX];

    net_mac_text(mac, &port->mac);
    log_notice("port %s: %s, MAC %s, MTU %u%s%s", port->name, port->device_name, mac,
               port->max_frame - FRAME_PORT_BYTES,
               port_impairments(&port->rx[0]) != NULL ? ", impaired on receiving" : "",
               port_impairments(&port->tx[0]) != NULL ? ", impaired on sending" : "");
}

static void show_lcore(const struct show_parts *parts, const struct lcore *lc)
{
    char rx[LIST_MAX], tx[LIST_MAX];

    log_notice("lcore %u on CPU %d: receives from%s, sends to%s, aggregates %u of %u shards", lc->eal_id,
               lcore_cpu(lc), queue_list(rx, parts, lc, false), queue_list(tx, parts, lc, true),
               (unsigned)__builtin_popcountll(lc->shards), parts->shards->n);
}

void banner_ready(const struct show_parts *parts)
{
    char mac[NET_MAC_TEXT_MAX];
    const uint8_t *ip = (const uint8_t *)&parts->ip;
    const unsigned ports = (unsigned)__builtin_popcountll(ports_there(parts->ports));

    for (uint64_t left = ports_there(parts->ports); left != 0; left &= left - 1)
        show_port(&parts->port[rte_bsf64(left)]);
    for (unsigned i = 0; i < parts->lcores->n; i++)
        show_lcore(parts, parts->lcores->lcore[i]);
    net_mac_text(mac, &parts->mac);
    if (parts->ip == 0)
        log_notice("ready: %u ports, MAC %s, no IP: switching only", ports, mac);
    else
        log_notice("ready: %u ports, MAC %s, IP %u.%u.%u.%u", ports, mac, ip[0], ip[1], ip[2], ip[3]);
}
