#include "probe.h"

#include <string.h>
#include <unistd.h>

#include <rte_lcore.h>
#include <rte_version.h>
#include <sys/utsname.h>

#include "eal.h"
#include "version.h"

enum { LINKS_TURNS = 30, LINKS_TURN_US = 100000 };

static bool all_up(const struct datapath *dp)
{
    for (uint64_t left = dp->ports; left != 0; left &= left - 1)
        if (!port_is_up(&dp->port[rte_bsf64(left)]))
            return false;
    return true;
}

static struct port_description describe(const struct port *port)
{
    struct port_description d = {.driver = "the kernel's", .node = SOCKET_ID_ANY};

    if (port->device->describe != NULL)
        port->device->describe(port, &d);
    return d;
}

static void print_machine(const struct datapath *dp, FILE *to)
{
    struct utsname os = {0};

    uname(&os);
    fprintf(to, "swagg %s, %s, %s %s, kernels %s, memory %s\n\n", build_version, rte_version(), os.sysname,
            os.release, dp->jobs.kernels->name, eal_memory());
}

/* "-" for what is unknown. */
static const char *number(char text[16], long n, long least)
{
    snprintf(text, 16, "%ld", n);
    return n < least ? "-" : text;
}

static const char *link_of(char text[32], const struct port *port, const struct port_description *d)
{
    if (!port_is_up(port))
        return "down";
    if (d->mbps == 0)
        return "up";
    snprintf(text, 32, "up, %g Gbit/s", d->mbps / 1e3);
    return text;
}

static const char *checksums_of(const struct port *port)
{
    const bool ip = port->rx_checksums & RTE_MBUF_F_RX_IP_CKSUM_MASK,
               udp = port->rx_checksums & RTE_MBUF_F_RX_L4_CKSUM_MASK;

    return ip && udp ? "IPv4, UDP" : ip ? "IPv4" : udp ? "UDP" : "none";
}

static const char *steering_of(const struct port_description *d)
{
    static const char *const word[] = {
        [PORT_STEERS_NOT] = "-", [PORT_STEERS_BY_RULES] = "flow rules", [PORT_STEERS_BY_HASH] = "its hash"};

    return word[d->steering];
}

static void print_port(const struct port *port, FILE *to)
{
    const struct port_description d = describe(port);
    char mac[NET_MAC_TEXT_MAX], node[16], rx[16], tx[16], mtu[16], link[32];

    fprintf(to,
            "| %s | %s | %s | %s | %s | %s | %u (%s) | %u (%s) | %u (%s) | %s | "
            "%s | %s | %s |\n",
            port->name, port->device_name, d.driver, number(node, d.node, 0), link_of(link, port, &d),
            net_mac_text(mac, &port->mac), port->max_frame - FRAME_PORT_BYTES, number(mtu, d.mtu_most, 1),
            port->rx_queues, number(rx, d.rx_most, 1), port->tx_queues, number(tx, d.tx_most, 1),
            port->multi_segment ? "several" : "one", checksums_of(port), port->hashes ? "yes" : "no",
            steering_of(&d));
}

static void print_ports(const struct datapath *dp, FILE *to)
{
    fprintf(to, "| port | device | driver | NUMA node | link | MAC | MTU (at most) | rx queues (at most) | "
                "tx queues (at "
                "most) | segments | compares | spreads by a hash | brings UDP ports to queues by |\n"
                "|---|---|---|---|---|---|---|---|---|---|---|---|---|\n");
    for (uint64_t left = dp->ports; left != 0; left &= left - 1)
        print_port(&dp->port[rte_bsf64(left)], to);
}

static void print_lcores(const struct datapath *dp, FILE *to)
{
    fprintf(to, "\n| lcore | CPU | NUMA node | ports | shards |\n|---|---|---|---|---|\n");
    for (unsigned i = 0; i < dp->placement.lcores; i++) {
        const struct placement_lcore *l = &dp->placement.lcore[i];

        fprintf(to, "| %u | %d | %d |", i + 1, l->cpu,
                (int)rte_lcore_to_socket_id(i + 1)); /* as eal.c numbers them */
        for (uint64_t left = dp->ports; left != 0; left &= left - 1)
            if (placement_rx_queue(l, rte_bsf64(left)) >= 0 || placement_tx_queue(l, rte_bsf64(left)) >= 0)
                fprintf(to, " %s", dp->port[rte_bsf64(left)].name);
        fprintf(to, " | %d |\n", __builtin_popcountll(l->shards));
    }
}

int probe_print(struct datapath *dp, FILE *to)
{
    int rc = 0;

    for (uint64_t left = dp->ports; left != 0 && rc == 0; left &= left - 1)
        rc = port_start(&dp->port[rte_bsf64(left)]);
    if (rc < 0)
        return rc;
    for (unsigned turn = 0; turn < LINKS_TURNS && !all_up(dp); turn++)
        usleep(LINKS_TURN_US);
    print_machine(dp, to);
    print_ports(dp, to);
    print_lcores(dp, to);
    return 0;
}
