#include "show/banner.h"

#include <stdio.h>

#include "base/frame.h"
#include "base/log.h"

enum { LIST_MAX = 512 };

static int append_queue(char text[LIST_MAX], int n, const struct port *port, unsigned queues, unsigned queue)
{
    char name[PORT_QUEUE_NAME_MAX];

    if (n < LIST_MAX)
        n += snprintf(text + n, LIST_MAX - (size_t)n, " %s", port_queue_name(name, port, queues, queue));
    return n;
}

static const char *rx_list(char text[LIST_MAX], const struct receive *r)
{
    int n = snprintf(text, LIST_MAX, "%s", r->queues == 0 ? " -" : "");

    for (unsigned i = 0; i < r->queues; i++) {
        const struct port *port = &r->port[r->queue[i].port];

        n = append_queue(text, n, port, port->rx_queues, r->queue[i].queue);
    }
    return text;
}

static const char *tx_list(char text[LIST_MAX], const struct send *s)
{
    int n = snprintf(text, LIST_MAX, "%s", s->own == 0 ? " -" : "");

    for (uint64_t ports = s->own; ports != 0; ports &= ports - 1) {
        const unsigned p = rte_bsf64(ports);
        const struct port *port = &s->port[p];

        n = append_queue(text, n, port, port->tx_queues, s->queue[p]);
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
               lcore_cpu(lc), rx_list(rx, &lc->receive), tx_list(tx, &lc->send),
               (unsigned)__builtin_popcountll(lc->shards), parts->shards->n);
}

void banner_ready(const struct show_parts *parts)
{
    char mac[NET_MAC_TEXT_MAX];
    const uint8_t *ip = (const uint8_t *)&parts->ip;

    for (unsigned p = 0; p < parts->ports; p++)
        show_port(&parts->port[p]);
    for (unsigned i = 0; i < parts->lcores->n; i++)
        show_lcore(parts, parts->lcores->lcore[i]);
    net_mac_text(mac, &parts->mac);
    if (parts->ip == 0)
        log_notice("ready: %u ports, MAC %s, no IP: switching only", parts->ports, mac);
    else
        log_notice("ready: %u ports, MAC %s, IP %u.%u.%u.%u", parts->ports, mac, ip[0], ip[1], ip[2], ip[3]);
}
