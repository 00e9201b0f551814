#include "prepared.h"

#include <stdio.h>
#include <string.h>

static uint16_t receive(const struct port *port, uint16_t queue, struct rte_mbuf **frames, uint16_t max)
{
    struct prepared *d = port->state;
    const uint16_t n = (uint16_t)RTE_MIN(d->filled - d->received, (unsigned)max);

    (void)queue;
    if (n == 0 || rte_pktmbuf_alloc_bulk(d->mbufs, d->empty + d->received, n) < 0)
        return 0;
    memcpy(frames, d->ready + d->received, n * sizeof(*frames));
    d->received += n;
    return n;
}

static struct port_refused take_back(const struct port *port, uint16_t queue, struct rte_mbuf **frames,
                                     uint16_t n)
{
    struct prepared *d = port->state;
    const unsigned at = d->sends & (PREPARED_SENT - 1), first = RTE_MIN((unsigned)n, PREPARED_SENT - at);

    (void)queue;
    rte_pktmbuf_free_bulk(d->sent + at, first);
    rte_pktmbuf_free_bulk(d->sent, n - first);
    memcpy(d->sent + at, frames, first * sizeof(*frames));
    memcpy(d->sent, frames + first, (n - first) * sizeof(*frames));
    d->sends += n;
    return (struct port_refused){0};
}

static bool is_up(const struct port *port)
{
    (void)port;
    return true;
}

static const struct port_device prepared_device = {.receive = receive, .send = take_back, .is_up = is_up};

void prepared_open(struct port *port, struct prepared *device, struct rte_mempool *mbufs, uint16_t max_frame,
                   bool compares)
{
    *device = (struct prepared){.mbufs = mbufs};
    *port = (struct port){.device = &prepared_device,
                          .state = device,
                          .max_frame = max_frame,
                          .rx_queues = 1,
                          .tx_queues = 1,
                          .multi_segment = true,
                          .rx_checksums =
                              compares ? RTE_MBUF_F_RX_IP_CKSUM_MASK | RTE_MBUF_F_RX_L4_CKSUM_MASK : 0,
                          .rx = &device->rx,
                          .tx = &device->tx};
    snprintf(port->name, sizeof(port->name), "prepared");
}

struct rte_mbuf **prepared_refill(struct prepared *device, unsigned n)
{
    const unsigned has = device->received;

    if (n > has && rte_pktmbuf_alloc_bulk(device->mbufs, device->empty + has, n - has) < 0)
        return NULL;
    if (n < has)
        rte_pktmbuf_free_bulk(device->empty + n, has - n);
    memcpy(device->ready, device->empty, n * sizeof(device->ready[0]));
    device->filled = n;
    device->received = 0;
    return device->ready;
}

void prepared_close(struct prepared *device)
{
    rte_pktmbuf_free_bulk(device->ready + device->received, device->filled - device->received);
    rte_pktmbuf_free_bulk(device->empty, device->received);
    rte_pktmbuf_free_bulk(device->sent, (unsigned)RTE_MIN(device->sends, (uint64_t)PREPARED_SENT));
}
