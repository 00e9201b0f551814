/* A port on a device of DPDK's. */
#include <errno.h>
#include <string.h>

#include <net/if.h>

#include <rte_dev.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_flow.h>

#include "base/log.h"
#include "port/dpdk_deal.h"
#include "port/frame.h"
#include "port/port.h"

enum { PORT_DESCRIPTORS = 1024 };

struct dpdk_port {
    bool opened;     /* id is a device's */
    uint16_t id;     /* as DPDK numbers devices */
    uint64_t missed; /* by the device, when last asked */
};

static struct dpdk_port *state_of(const struct port *port)
{
    return port->state;
}

static uint16_t id_of(const struct port *port)
{
    return state_of(port)->id;
}

/* The fields that the device's hash may use to choose a queue. A flow always goes to one queue, so that it
 * stays in order. */
#define PORT_RSS                                                                                             \
    (RTE_ETH_RSS_IPV4 | RTE_ETH_RSS_NONFRAG_IPV4_TCP | RTE_ETH_RSS_NONFRAG_IPV4_UDP | RTE_ETH_RSS_IPV6 |     \
     RTE_ETH_RSS_NONFRAG_IPV6_TCP | RTE_ETH_RSS_NONFRAG_IPV6_UDP)

static bool is_virtual(const char *device)
{
    return strncmp(device, "net_", 4) == 0;
}

/* Many drivers return -1 for whatever goes wrong, and have said what: that nobody takes it for EPERM. */
static int own_error(int rc)
{
    return rc == -1 ? -EIO : rc;
}

/* Virtual devices are made here and not by EAL's --vdev, so that an error message can name the port.
 * PCI devices were found when the EAL started (eal.c allows those that the configuration names). */
static int find_device(struct port *port, const struct config_port *cfg)
{
    uint16_t id;
    int rc = rte_eth_dev_get_port_by_name(port->device_name, &id);

    if (rc < 0) {
        rc = own_error(rte_dev_probe(cfg->device));
        if (rc == 0)
            rc = rte_eth_dev_get_port_by_name(port->device_name, &id);
    }
    if (rc < 0)
        log_error("port %s: cannot open device %s: %s: %s", port->name, cfg->device, rte_strerror(-rc),
                  is_virtual(cfg->device) ? "is there such a driver, with such arguments?"
                                          : "`dpdk-devbind.py --status` lists those of this machine");
    else
        *state_of(port) = (struct dpdk_port){.opened = true, .id = id};
    return rc;
}

static int set_up_queues(const struct port *port, struct rte_mempool *mbufs)
{
    uint16_t rx_descriptors = PORT_DESCRIPTORS, tx_descriptors = PORT_DESCRIPTORS;
    int rc = rte_eth_dev_adjust_nb_rx_tx_desc(id_of(port), &rx_descriptors, &tx_descriptors);

    for (uint16_t q = 0; q < port->rx_queues && rc == 0; q++)
        rc = rte_eth_rx_queue_setup(id_of(port), q, rx_descriptors, SOCKET_ID_ANY, NULL, mbufs);
    for (uint16_t q = 0; q < port->tx_queues && rc == 0; q++)
        rc = rte_eth_tx_queue_setup(id_of(port), q, tx_descriptors, SOCKET_ID_ANY, NULL);
    return rc;
}

/* The device's greatest MTU, as it says, if the configuration wants more and the device is virtual; else 0.
 * DPDK's net_memif and net_af_packet say that they take frames of 1518 bytes, but carry whatever fits their
 * buffers. */
static uint16_t understated_mtu(const struct port *port, const struct config_port *cfg)
{
    struct rte_eth_dev_info info;

    if (!is_virtual(cfg->device) || rte_eth_dev_info_get(id_of(port), &info) < 0 ||
        info.max_rx_pktlen >= port->max_frame)
        return 0;
    return (uint16_t)(info.max_rx_pktlen - sizeof(struct net_ethernet) - RTE_ETHER_CRC_LEN);
}

static int set_mtu(const struct port *port, uint16_t mtu)
{
    uint16_t has = 0;
    int rc = rte_eth_dev_set_mtu(id_of(port), mtu);

    /* The MTU of some devices cannot be set, which does not matter if it is large enough. */
    if (rc == -ENOTSUP && rte_eth_dev_get_mtu(id_of(port), &has) == 0 && has >= mtu)
        rc = 0;
    if (rc < 0)
        log_error("port %s: cannot set MTU %u: %s", port->name, mtu, rte_strerror(-rc));
    return rc;
}

static int check_queues(const struct port *port, const struct rte_eth_dev_info *info)
{
    if (port->rx_queues <= info->max_rx_queues && port->tx_queues <= info->max_tx_queues)
        return 0;
    return log_fail(-EINVAL,
                    "port %s: the device has at most %u receive and %u send queues: lower rx_queues (%u) or "
                    "tx_queues (%u)",
                    port->name, info->max_rx_queues, info->max_tx_queues, port->rx_queues, port->tx_queues);
}

/* Which checksums the device is to compare. A virtual machine's frames may come without one. If these drivers
 * are asked to compare, they hand such frames over as they are; if not, there is a checksum, which a frame
 * that is switched needs. */
static uint64_t checksums_wanted(const struct rte_eth_dev_info *info)
{
    static const char *const never[] = {"net_vhost", "net_virtio", "net_virtio_user", "net_vmxnet3"};

    for (unsigned i = 0; i < RTE_DIM(never); i++)
        if (strcmp(info->driver_name, never[i]) == 0)
            return 0;
    return info->rx_offload_capa & (RTE_ETH_RX_OFFLOAD_IPV4_CKSUM | RTE_ETH_RX_OFFLOAD_UDP_CKSUM);
}

static uint64_t checksum_flags(uint64_t rx_offloads)
{
    return (rx_offloads & RTE_ETH_RX_OFFLOAD_IPV4_CKSUM ? RTE_MBUF_F_RX_IP_CKSUM_MASK : 0) |
           (rx_offloads & RTE_ETH_RX_OFFLOAD_UDP_CKSUM ? RTE_MBUF_F_RX_L4_CKSUM_MASK : 0);
}

/* Sets the hash by which the device chooses a frame's receive queue, if it has several. */
static void choose_hash(struct port *port, struct rte_eth_conf *conf, const struct rte_eth_dev_info *info)
{
    const uint64_t rss = port->rx_queues > 1 ? info->flow_type_rss_offloads & PORT_RSS : 0;

    port->hashes = rss != 0;
    if (!port->hashes)
        return;
    conf->rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
    conf->rx_adv_conf.rss_conf.rss_hf = rss;
}

/* Sets up queues and MTU. If the device understates its greatest MTU, that one is set: the operator chooses
 * its buffers (docs/configuration.md), and the kernel's interface below keeps its own MTU. */
static int configure(struct port *port, const struct config_port *cfg, struct rte_mempool *mbufs)
{
    const uint16_t mtu = port->max_frame - FRAME_PORT_BYTES;
    const uint16_t understated = understated_mtu(port, cfg);
    struct rte_eth_conf conf = {.rxmode = {.mtu = understated > 0 ? understated : mtu}};
    struct rte_eth_dev_info info;
    int rc = rte_eth_dev_info_get(id_of(port), &info);

    if (rc == 0) {
        rc = check_queues(port, &info);
        if (rc < 0)
            return rc;
        choose_hash(port, &conf, &info);
        conf.rxmode.offloads = checksums_wanted(&info);
        port->rx_checksums = checksum_flags(conf.rxmode.offloads);
        conf.txmode.offloads = info.tx_offload_capa & RTE_ETH_TX_OFFLOAD_MULTI_SEGS;
        port->multi_segment = conf.txmode.offloads != 0;
        rc = own_error(rte_eth_dev_configure(id_of(port), port->rx_queues, port->tx_queues, &conf));
    }
    if (rc == 0)
        rc = own_error(set_up_queues(port, mbufs));
    if (rc < 0)
        return log_fail(rc, "port %s: cannot set up %s: %s", port->name, cfg->device, rte_strerror(-rc));
    return understated > 0 ? 0 : set_mtu(port, mtu);
}

/* Some drivers work on an interface of the kernel's: takes it for this process. net_tap makes one, which does
 * not exist yet. */
static int lock_interface(struct port *port, const struct config_port *cfg)
{
    const char *argument = strstr(cfg->device, ",iface=");
    char name[IF_NAMESIZE];
    unsigned if_index;
    int rc;

    if (argument == NULL)
        return 0;
    argument += strlen(",iface=");
    snprintf(name, sizeof(name), "%.*s", (int)strcspn(argument, ","), argument);
    if_index = if_nametoindex(name);
    rc = if_index == 0 ? 0 : port_lock(port, if_index);
    if (rc < 0)
        port_say_refused(port, name, if_index, rc);
    return rc;
}

static int dpdk_open(struct port *port, const struct config_port *cfg, const struct port_resources *resources)
{
    struct rte_ether_addr mac;
    int rc = lock_interface(port, cfg);

    if (rc == 0)
        rc = find_device(port, cfg);
    if (rc == 0)
        rc = configure(port, cfg, resources->mbufs);
    if (rc == 0)
        rc = rte_eth_macaddr_get(id_of(port), &mac);
    if (rc == 0)
        memcpy(port->mac.addr_bytes, mac.addr_bytes, sizeof(port->mac.addr_bytes));
    return rc;
}

static int dpdk_start(struct port *port)
{
    const int rc = own_error(rte_eth_dev_start(id_of(port)));

    return rc == 0 ? rte_eth_promiscuous_enable(id_of(port)) : rc;
}

static uint16_t dpdk_receive(const struct port *port, uint16_t queue, struct rte_mbuf **frames, uint16_t max)
{
    return rte_eth_rx_burst(id_of(port), queue, frames, max);
}

static struct port_refused dpdk_send(const struct port *port, uint16_t queue, struct rte_mbuf **frames,
                                     uint16_t n)
{
    const uint16_t sent = rte_eth_tx_burst(id_of(port), queue, frames, n);

    rte_pktmbuf_free_bulk(frames + sent, n - sent);
    return (struct port_refused){.full = n - sent};
}

static bool dpdk_is_up(const struct port *port)
{
    struct rte_eth_link link = {0};

    return rte_eth_link_get_nowait(id_of(port), &link) == 0 && link.link_status == RTE_ETH_LINK_UP;
}

static void dpdk_stats(const struct port *port, struct port_stats *stats)
{
    struct rte_eth_stats told = {0};

    rte_eth_stats_get(id_of(port), &told);
    *stats = (struct port_stats){.rx_frames = told.ipackets,
                                 .rx_bytes = told.ibytes,
                                 .rx_errors = told.ierrors,
                                 .tx_frames = told.opackets,
                                 .tx_bytes = told.obytes,
                                 .tx_errors = told.oerrors};
}

/* To a UDP port, and to a queue. */
struct flow_rule {
    struct rte_flow_item_udp udp, mask;
    struct rte_flow_action_queue to;
    struct rte_flow_item pattern[4];
    struct rte_flow_action action[2];
};

static const struct rte_flow_attr incoming = {.ingress = 1};

static void make_rule(struct flow_rule *r, uint16_t udp_port, uint16_t queue)
{
    *r = (struct flow_rule){
        .udp = {.hdr.dst_port = rte_cpu_to_be_16(udp_port)},
        .mask = {.hdr.dst_port = RTE_BE16(0xFFFF)},
        .to = {.index = queue},
        .pattern = {{.type = RTE_FLOW_ITEM_TYPE_ETH},
                    {.type = RTE_FLOW_ITEM_TYPE_IPV4},
                    {.type = RTE_FLOW_ITEM_TYPE_UDP, .spec = &r->udp, .mask = &r->mask},
                    {.type = RTE_FLOW_ITEM_TYPE_END}},
        .action = {{.type = RTE_FLOW_ACTION_TYPE_QUEUE, .conf = &r->to}, {.type = RTE_FLOW_ACTION_TYPE_END}},
    };
}

/* Whether it takes such rules, asked with one. */
static bool takes_rules(const struct port *port)
{
    enum { ANY_UDP_PORT = 4791 };
    struct rte_flow_error error = {0};
    struct flow_rule r;

    make_rule(&r, ANY_UDP_PORT, 0);
    return rte_flow_validate(id_of(port), &incoming, r.pattern, r.action, &error) == 0;
}

static void dpdk_describe(const struct port *port, struct port_description *d)
{
    struct rte_eth_dev_info info = {.driver_name = "?"};
    struct rte_eth_link link = {0};

    rte_eth_dev_info_get(id_of(port), &info);
    rte_eth_link_get_nowait(id_of(port), &link);
    *d = (struct port_description){
        .driver = info.driver_name,
        .node = is_virtual(port->device_name) ? SOCKET_ID_ANY : rte_eth_dev_socket_id(id_of(port)),
        .mbps = link.link_status == RTE_ETH_LINK_UP && link.link_speed != RTE_ETH_SPEED_NUM_UNKNOWN
                    ? link.link_speed
                    : 0,
        .rx_most = info.max_rx_queues,
        .tx_most = info.max_tx_queues,
        .mtu_most = info.max_mtu,
        .steering = takes_rules(port)      ? PORT_STEERS_BY_RULES
                    : dpdk_can_deal(&info) ? PORT_STEERS_BY_HASH
                                           : PORT_STEERS_NOT};
}

static int dpdk_steer(const struct port *port, uint16_t udp_port, uint16_t queue, const char **why)
{
    struct rte_flow_error error = {0};
    struct flow_rule r;

    make_rule(&r, udp_port, queue);
    if (rte_flow_create(id_of(port), &incoming, r.pattern, r.action, &error) != NULL)
        return 0;
    *why = error.message;
    return -rte_errno;
}

static void dpdk_steer_no_more(const struct port *port)
{
    struct rte_flow_error error;

    rte_flow_flush(id_of(port), &error);
}

static int dpdk_deals(const struct port *port, const uint16_t queue[PORT_DEALS], const char **why)
{
    return dpdk_deal(id_of(port), queue, why);
}

static uint64_t dpdk_missed(struct port *port)
{
    struct rte_eth_stats told;
    struct dpdk_port *d = state_of(port);
    const uint64_t before = d->missed;

    if (rte_eth_stats_get(d->id, &told) == 0)
        d->missed = told.imissed;
    return d->missed - before;
}

static void dpdk_close(struct port *port)
{
    struct rte_eth_dev_info info;

    if (!state_of(port)->opened)
        return;
    const bool known = rte_eth_dev_info_get(id_of(port), &info) == 0;

    rte_eth_dev_stop(id_of(port));
    rte_eth_dev_close(id_of(port));
    if (known)
        rte_dev_remove(info.device); /* or there could be no other of its name */
    state_of(port)->opened = false;
}

const struct port_device port_dpdk = {.state_bytes = sizeof(struct dpdk_port),
                                      .open = dpdk_open,
                                      .start = dpdk_start,
                                      .receive = dpdk_receive,
                                      .send = dpdk_send,
                                      .is_up = dpdk_is_up,
                                      .stats = dpdk_stats,
                                      .describe = dpdk_describe,
                                      .steer = dpdk_steer,
                                      .steer_no_more = dpdk_steer_no_more,
                                      .deal = dpdk_deals,
                                      .missed = dpdk_missed,
                                      .close = dpdk_close};
