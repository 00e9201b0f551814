/* SwitchML's published client library was written for DPDK 19.11. This header, included before each of its
 * files (g++ -include), makes it one of DPDK 22.11's, and of ports that have neither flow rules nor checksum
 * offload, such as net_af_packet: see docs/published.md. It mends one fault of the library's (has_come), and
 * changes not a line of it. */
#pragma once

#include <rte_bitmap.h>
#include <rte_ethdev.h>
#include <rte_flow.h>
#include <rte_ip.h>
#include <rte_lcore.h>
#include <rte_udp.h>

#include <glog/logging.h>
#include <limits>

/* Debian's glog keeps this one to itself. */
namespace google::glog_internal_namespace_
{
inline bool IsGoogleLoggingInitialized()
{
    return google::IsGoogleLoggingInitialized();
}
} // namespace google::glog_internal_namespace_

/* What has another name now. */
#define RTE_LCORE_FOREACH_SLAVE       RTE_LCORE_FOREACH_WORKER
#define DEV_RX_OFFLOAD_IPV4_CKSUM     RTE_ETH_RX_OFFLOAD_IPV4_CKSUM
#define DEV_RX_OFFLOAD_UDP_CKSUM      RTE_ETH_RX_OFFLOAD_UDP_CKSUM
#define DEV_TX_OFFLOAD_IPV4_CKSUM     RTE_ETH_TX_OFFLOAD_IPV4_CKSUM
#define DEV_TX_OFFLOAD_UDP_CKSUM      RTE_ETH_TX_OFFLOAD_UDP_CKSUM
#define DEV_TX_OFFLOAD_MBUF_FAST_FREE RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE
#define ETH_MQ_TX_NONE                RTE_ETH_MQ_TX_NONE
#define ETH_LINK_FULL_DUPLEX          RTE_ETH_LINK_FULL_DUPLEX
#define PKT_TX_IP_CKSUM               RTE_MBUF_F_TX_IP_CKSUM
#define PKT_TX_IPV4                   RTE_MBUF_F_TX_IPV4
#define PKT_TX_UDP_CKSUM              RTE_MBUF_F_TX_UDP_CKSUM

namespace switchml_on_dpdk_22
{

/* What is no more, or has fields of other names. */
enum { RTE_FDIR_PBALLOC_64K, RTE_FDIR_NO_REPORT_STATUS };
struct conf : rte_eth_conf {
    struct {
        int mode, pballoc, status, drop_queue;
    } fdir_conf;
};
struct rxmode : rte_eth_rxmode {
    int split_hdr_size, max_rx_pkt_len;
};
struct __attribute__((packed, aligned(2))) ether_hdr {
    rte_ether_addr d_addr, s_addr;
    uint16_t ether_type;
};

enum { FIRST_PORT = 4000 }; /* worker_port of the client's configuration */

/* The rule that the library makes: what is for the UDP port of a worker thread comes to its queue, and
 * nothing else. */
static uint16_t keep_own(uint16_t, uint16_t queue, rte_mbuf *packets[], uint16_t n, uint16_t, void *)
{
    uint16_t kept = 0;
    for (uint16_t i = 0; i < n; i++) {
        const uint8_t *frame = rte_pktmbuf_mtod(packets[i], const uint8_t *);
        const bool is_udp = packets[i]->data_len >= 42 && frame[12] == 8 && frame[13] == 0 && frame[23] == 17;
        if (is_udp && (frame[36] << 8 | frame[37]) == FIRST_PORT + queue)
            packets[kept++] = packets[i];
        else
            rte_pktmbuf_free(packets[i]);
    }
    return kept;
}

/* The checksums that it leaves to the port. */
static uint16_t finish(uint16_t, uint16_t, rte_mbuf *packets[], uint16_t n, void *)
{
    for (uint16_t i = 0; i < n; i++) {
        auto *ip = rte_pktmbuf_mtod_offset(packets[i], rte_ipv4_hdr *, sizeof(ether_hdr));
        auto *udp = reinterpret_cast<rte_udp_hdr *>(ip + 1);
        ip->hdr_checksum = 0;
        ip->hdr_checksum = rte_ipv4_cksum(ip);
        udp->dgram_cksum = 0;
        udp->dgram_cksum = rte_ipv4_udptcp_cksum(ip, udp);
        packets[i]->ol_flags = 0;
    }
    return n;
}

static inline int dev_start(uint16_t port)
{
    rte_eth_dev_info info;
    const int rc = rte_eth_dev_start(port);
    rte_eth_dev_info_get(port, &info);
    for (uint16_t queue = 0; queue < info.nb_rx_queues; queue++) {
        rte_eth_add_rx_callback(port, queue, keep_own, nullptr);
        rte_eth_add_tx_callback(port, queue, finish, nullptr);
    }
    return rc;
}

/* The library compares what rte_bitmap_get returns with 1, but that is the bit where it lies in its word, not
 * 0 or 1: it took a packet that came twice for another packet, and held a tensor for complete that was not.
 */
static inline bool has_come(rte_bitmap *packets, uint32_t i)
{
    return rte_bitmap_get(packets, i) != 0;
}

static inline int succeed(...)
{
    return 0;
}

static inline rte_flow *a_rule(...)
{
    static char rule;
    return reinterpret_cast<rte_flow *>(&rule);
}

} // namespace switchml_on_dpdk_22

using switchml_on_dpdk_22::RTE_FDIR_NO_REPORT_STATUS;
using switchml_on_dpdk_22::RTE_FDIR_PBALLOC_64K;
#define rte_bitmap_get    switchml_on_dpdk_22::has_come
#define rte_eth_conf      switchml_on_dpdk_22::conf
#define rte_eth_rxmode    switchml_on_dpdk_22::rxmode
#define rte_ether_hdr     switchml_on_dpdk_22::ether_hdr
#define rte_eth_dev_start switchml_on_dpdk_22::dev_start
#define rte_flow_validate switchml_on_dpdk_22::succeed
#define rte_flow_isolate  switchml_on_dpdk_22::succeed
#define rte_flow_flush    switchml_on_dpdk_22::succeed
#define rte_flow_create   switchml_on_dpdk_22::a_rule
