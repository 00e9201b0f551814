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

static struct port_view see(const struct show_parts *parts, unsigned p)
{
    const struct port *port = &parts->port[p];
    struct port_stats stats;

    port->device->stats(port, &stats);
    return (struct port_view){.name = port->name,
                              .device = port->device_name,
                              .returns = stats.returns,
                              .rx_frames = stats.rx_frames,
                              .rx_bytes = stats.rx_bytes,
                              .rx_merged = stats.rx_merged,
                              .rx_missed = view_port_drops(parts, p, DROP_RX_MISSED),
                              .rx_errors = stats.rx_errors,
                              .tx_frames = stats.tx_frames,
                              .tx_bytes = stats.tx_bytes,
                              .tx_merged = stats.tx_merged,
                              .tx_errors = stats.tx_errors,
                              .drops = drops_of(parts, p)};
}

int view_ports(const struct show_parts *parts, const char *name, struct view_out *out)
{
    (void)name;
    for (uint64_t left = ports_there(parts->ports); left != 0; left &= left - 1) {
        struct port_view row = see(parts, rte_bsf64(left));

        row.link = link_of(&parts->port[rte_bsf64(left)]);
        view_row(out, &row);
    }
    return 0;
}

/* How often impairments have struck, on receiving, then on sending. */
static void count_impaired(const struct port *port, struct view_count to[2 * IMPAIR_KINDS])
{
    static const char *const names[2 * IMPAIR_KINDS] = {
        [IMPAIR_DROP] = "rx_impaired_drop",
        [IMPAIR_DUPLICATE] = "rx_impaired_duplicate",
        [IMPAIR_REORDER] = "rx_impaired_reorder",
        [IMPAIR_CORRUPT] = "rx_impaired_corrupt",
        [IMPAIR_KINDS + IMPAIR_DROP] = "tx_impaired_drop",
        [IMPAIR_KINDS + IMPAIR_DUPLICATE] = "tx_impaired_duplicate",
        [IMPAIR_KINDS + IMPAIR_REORDER] = "tx_impaired_reorder",
        [IMPAIR_KINDS + IMPAIR_CORRUPT] = "tx_impaired_corrupt"};

    for (unsigned i = 0; i < 2 * IMPAIR_KINDS; i++) {
        const bool tx = i >= IMPAIR_KINDS;
        const struct port_queue *queue = tx ? port->tx : port->rx;

        to[i] = (struct view_count){.name = names[i]};
        for (unsigned q = 0; q < (tx ? port->tx_queues : port->rx_queues); q++)
            for (unsigned place = 0; place < 2; place++)
                to[i].n += counter_read(&queue[q].copy[place].stats.hit[i % IMPAIR_KINDS]);
    }
}

int view_port(const struct show_parts *parts, const char *name, struct view_out *out)
{
    const int p = name == NULL ? -EINVAL : view_find_port(parts, name);
    struct view_count impaired[2 * IMPAIR_KINDS];
    const struct port *port;
    struct port_view shown;

    if (p < 0)
        return p;
    port = &parts->port[p];
    shown = see(parts, (unsigned)p);
    shown.one = true;
    net_mac_text(shown.mac, &port->mac);
    shown.mtu = port->max_frame - FRAME_PORT_BYTES;
    shown.link_up = port->device->is_up(port);
    shown.disabled = port_is_closed_for(port, PORT_DISABLED);
    shown.blocked = port_is_closed_for(port, PORT_BLOCKED);
    shown.gone = is_gone(port);
    shown.compares_ip_checksum = (port->rx_checksums & RTE_MBUF_F_RX_IP_CKSUM_MASK) != 0;
    shown.compares_udp_checksum = (port->rx_checksums & RTE_MBUF_F_RX_L4_CKSUM_MASK) != 0;
    shown.impaired = (struct view_counts){2 * IMPAIR_KINDS, impaired};
    count_impaired(port, impaired);
    view_fields(out, &shown);
    return 0;
}
