/* The switch's ports, and its MAC address. */
#include "datapath_make.h"

#include <errno.h>
#include <string.h>

#include "base/log.h"
#include "bridge/switch_mac.h"
#include "port/linux/features.h"
#include "port/linux/rivals.h"
#include "port/linux/rx.h"
#include "port/linux/tx.h"
#include "switchml/protocol.h"

static int open_all(struct datapath *dp, const struct config *cfg)
{
    const struct port_resources resources = {.mbufs = dp->mbufs,
                                             .ones_sum = dp->jobs.kernels->ones_sum,
                                             .elements_at = FRAME_HEADER_BYTES + sml_protocol.header_bytes};
    int rc = 0;

    linux_merge_settle();
    dp->mergeable = linux_tx_mergeable();
    dp->multi_segment = true;
    for (unsigned i = 0; i < cfg->ports && rc == 0; i++) {
        rc = port_open(&dp->port[i], i, cfg, &resources);
        dp->multi_segment &= dp->port[i].multi_segment;
        dp->ports |= RTE_BIT64(i);
    }
    return rc;
}

static bool on_kernel(const struct datapath *dp)
{
    bool any = false;

    for (uint64_t left = dp->ports; left != 0; left &= left - 1)
        any |= dp->port[rte_bsf64(left)].locked != 0;
    return any;
}

/* switch.mac is a port's own address. On an interface of the kernel's, that is an error; a DPDK device may be
 * none, so there it is only a warning. */
static int refuse_mac(const struct port *port)
{
    const char *why = "the kernel takes frames to the switch for this machine's";

    if (port->device != &port_linux) {
        log_warning(
            "switch.mac is port %s's own: where that is an interface of the kernel's, too (net_af_packet, "
            "net_tap), %s: leave switch.mac out, or choose another",
            port->name, why);
        return 0;
    }
    log_error(
        "switch.mac is the address of port %s's own interface: %s: leave switch.mac out, or choose another",
        port->name, why);
    return -EINVAL;
}

static int choose_mac(struct datapath *dp, const struct config *cfg)
{
    struct net_mac of_port[SWAGG_MAX_PORTS];
    int same;

    for (unsigned p = 0; p < cfg->ports; p++)
        of_port[p] = dp->port[p].mac;
    if (!cfg->has_mac) {
        switch_mac_derive(&dp->mac, of_port, cfg->ports);
        return 0;
    }
    memcpy(dp->mac.addr_bytes, cfg->mac, sizeof(dp->mac.addr_bytes));
    same = switch_mac_find(&dp->mac, of_port, cfg->ports);
    return same < 0 ? 0 : refuse_mac(&dp->port[same]);
}

/* None of the switch's addresses is this machine's. */
static int check_addresses(const struct datapath *dp)
{
    int rc = 0;

    for (unsigned i = 0; i < dp->vlans.n && rc == 0; i++)
        rc = linux_rivals_check_ip(dp->vlans.vlan[i].ip, on_kernel(dp));
    return rc;
}

int datapath_open_ports(struct datapath *dp, const struct config *cfg)
{
    int rc = open_all(dp, cfg);

    if (rc == 0)
        rc = check_addresses(dp);
    if (rc == 0)
        rc = choose_mac(dp, cfg);
    return rc;
}

/* The kernel cuts no merged frames with tags again, so where ports carry VLANs they are cut at once. */
void datapath_carry_merged(struct datapath *dp, const struct config *cfg)
{
    unsigned queues = 0, buffers;

    if (dp->vlans.aware)
        return;
    for (uint64_t left = dp->ports; left != 0; left &= left - 1) {
        if (dp->port[rte_bsf64(left)].device->carry == NULL)
            return;
        queues += dp->port[rte_bsf64(left)].rx_queues;
    }
    buffers = queues * LINUX_RX_LONG_BUFFERS;
    if (datapath_free_megabytes() >=
        cfg->pool.megabytes + (buffers >> 4) + 1) /* what jobs may want comes first */
        dp->long_buffers = datapath_make_buffers("long_buffers", buffers, 0, LINUX_RX_LONG_BYTES);
    if (dp->long_buffers == NULL) {
        log_info("no memory for buffers of merged frames: each is cut, which makes switching dear; raise "
                 "memory.megabytes");
        return;
    }
    port_carry_merged(dp->port, dp->ports, &dp->mac, dp->long_buffers);
}
