#include "lcore_peers.h"

#include "lcore/receive.h"

void lcore_macswap(const struct port *port)
{
    struct rte_mbuf *frames[RECEIVE_BURST];
    uint16_t n;

    while ((n = port->device->receive(port, 0, frames, RECEIVE_BURST)) > 0) {
        for (unsigned i = 0; i < n; i++)
            rte_prefetch0(rte_pktmbuf_mtod(frames[i], void *));
        for (unsigned i = 0; i < n; i++) {
            struct net_ethernet *eth = rte_pktmbuf_mtod(frames[i], struct net_ethernet *);
            const struct net_mac to = eth->dst_addr;

            eth->dst_addr = eth->src_addr;
            eth->src_addr = to;
            frames[i]->ol_flags = 0;
            frames[i]->tx_offload = 0;
        }
        port->device->send(port, 0, frames, n);
    }
}

__attribute__((target_clones("avx512f", "avx2", "default"))) void
lcore_bare_loop(float *sum, const float *payload, size_t floats)
{
    for (size_t i = 0; i < floats; i++)
        sum[i] += payload[i];
}
