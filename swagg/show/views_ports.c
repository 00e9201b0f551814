/* Views of ports. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "port/frame.h"
#include "show/views.h"

int view_find_port(const struct show_parts *parts, const char *name)
{
    for (uint64_t left = ports_there(parts->ports); left != 0; left &= left - 1)
        if (strcmp(parts->port[rte_bsf64(left)].name, name) == 0)
            return (int)rte_bsf64(left);
    return -ENOENT;
}

void view_port_names(const struct show_parts *parts, view_name_visitor *visit, void *context)
{
    for (uint64_t left = ports_there(parts->ports); left != 0; left &= left - 1)
        visit(context, parts->port[rte_bsf64(left)].name);
}

static bool is_gone(const struct port *port)
{
    return port->device->is_gone != NULL && port->device->is_gone(port);
}

static const char *link_of(const struct port *port)
{
    if (port_is_closed_for(port, PORT_DISABLED))
        return "disabled";
    if (port_is_closed_for(port, PORT_BLOCKED))
        return "blocked";
    if (is_gone(port))
        return "gone";
    return port->device->is_up(port) ? "up" : "down";
}

uint64_t view_port_drops(const struct show_parts *parts, unsigned p, unsigned kind)
{
    return lcores_drops(parts->lcores, p, kind) - parts->port[p].dropped_before[kind];
}

static uint64_t drops_of(const struct show_parts *parts, unsigned p)
{
    uint64_t sum = 0;

    for (unsigned kind = 0; kind < DROP_KINDS; kind++)
        sum += view_port_drops(parts, p, kind);
    return sum;
}

static void write_row(const struct show_parts *parts, unsigned p, struct writer *w)
{
    const struct port *port = &parts->port[p];
    struct port_stats stats;

    port->device->stats(port, &stats);
    writer_text(w, "name", port->name);
    writer_text(w, "device", port->device_name);
    writer_text(w, "link", link_of(port));
    writer_counter(w, "rx_frames", stats.rx_frames);
    writer_counter(w, "rx_bytes", stats.rx_bytes);
    writer_counter(w, "tx_frames", stats.tx_frames);
    writer_counter(w, "tx_bytes", stats.tx_bytes);
    writer_counter(w, "drops", drops_of(parts, p));
}

int view_ports(const struct show_parts *parts, const char *name, struct writer *w)
{
    (void)name;
    writer_table(w, "ports");
    for (uint64_t left = ports_there(parts->ports); left != 0; left &= left - 1) {
        writer_row(w);
        write_row(parts, rte_bsf64(left), w);
        writer_end(w);
    }
    writer_end(w);
    return 0;
}

/* The keys outlive the writer, so they are made from a list. */
#define IMPAIRED(direction)                                                                                  \
    {                                                                                                        \
        [IMPAIR_DROP] = direction "_impaired_drop", [IMPAIR_DUPLICATE] = direction "_impaired_duplicate",    \
        [IMPAIR_REORDER] = direction "_impaired_reorder", [IMPAIR_CORRUPT] = direction "_impaired_corrupt"   \
    }

static void write_impairments(struct writer *w, const char *const keys[IMPAIR_KINDS],
                              const struct port_queue queue[], unsigned queues)
{
    for (enum impair_kind k = 0; k < IMPAIR_KINDS; k++) {
        uint64_t hits = 0;

        for (unsigned q = 0; q < queues; q++)
            for (unsigned i = 0; i < 2; i++)
                hits += counter_read(&queue[q].place[i].stats.hit[k]);
        writer_counter(w, keys[k], hits);
    }
}

static void write_stats(const struct show_parts *parts, unsigned p, struct writer *w)
{
    static const char *const rx[IMPAIR_KINDS] = IMPAIRED("rx"), *const tx[IMPAIR_KINDS] = IMPAIRED("tx");
    const struct port *port = &parts->port[p];
    struct port_stats stats;

    port->device->stats(port, &stats);
    writer_counter(w, "returns", stats.returns);
    writer_counter(w, "rx_frames", stats.rx_frames);
    writer_counter(w, "rx_bytes", stats.rx_bytes);
    writer_counter(w, "rx_merged", stats.rx_merged);
    writer_counter(w, "rx_missed", view_port_drops(parts, p, DROP_RX_MISSED));
    writer_counter(w, "rx_errors", stats.rx_errors);
    writer_counter(w, "tx_frames", stats.tx_frames);
    writer_counter(w, "tx_bytes", stats.tx_bytes);
    writer_counter(w, "tx_merged", stats.tx_merged);
    writer_counter(w, "tx_errors", stats.tx_errors);
    write_impairments(w, rx, port->rx, port->rx_queues);
    write_impairments(w, tx, port->tx, port->tx_queues);
}

int view_port(const struct show_parts *parts, const char *name, struct writer *w)
{
    const int p = name == NULL ? -EINVAL : view_find_port(parts, name);
    const struct port *port;

    if (p < 0)
        return p;
    port = &parts->port[p];
    writer_text(w, "name", port->name);
    writer_text(w, "device", port->device_name);
    writer_mac(w, "mac", &port->mac);
    writer_number(w, "mtu", port->max_frame - FRAME_PORT_BYTES);
    writer_flag(w, "link_up", port->device->is_up(port));
    writer_flag(w, "disabled", port_is_closed_for(port, PORT_DISABLED));
    writer_flag(w, "blocked", port_is_closed_for(port, PORT_BLOCKED));
    writer_flag(w, "gone", is_gone(port));
    writer_flag(w, "compares_ip_checksum", (port->rx_checksums & RTE_MBUF_F_RX_IP_CKSUM_MASK) != 0);
    writer_flag(w, "compares_udp_checksum", (port->rx_checksums & RTE_MBUF_F_RX_L4_CKSUM_MASK) != 0);
    write_stats(parts, (unsigned)p, w);
    return 0;
}
