#include "port/port.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_errno.h>
#include <rte_malloc.h>

#include "base/log.h"
#include "base/many_to_one.h"
#include "port/frame.h"
#include "port/impair_mbuf.h"
#include "port/linux/lock.h"
#include "port/linux/rx.h"

enum {
    /* net_af_packet needs buffers as large as its ring's frames, 2 KiB by default, whatever the MTU. */
    PORT_BUFFER_STEP = 2048,
};

uint16_t port_buffer_bytes(uint16_t mtu)
{
    return RTE_PKTMBUF_HEADROOM + RTE_ALIGN_CEIL(mtu + FRAME_PORT_BYTES + LINUX_RX_EXTRA, PORT_BUFFER_STEP);
}

/* The copy that is not in use. */
static struct impair *other_copy(struct port_queue *queue)
{
    return &queue->copy[queue->impair == &queue->copy[0]];
}

/* Every queue's impairments have a random stream of their own: stream, stream + 2 * SWAGG_MAX_PORTS, ... What
 * was hit before goes on counting. */
void port_impair(struct port_queue *queue, unsigned queues, const struct impair_config *cfg,
                 const struct port_impair_seed *from)
{
    struct impair_config in_cycles = *cfg;

    in_cycles.hold_for = cfg->hold_for * rte_get_tsc_hz() / US_PER_S;
    for (unsigned q = 0; q < queues; q++) {
        struct impair *next = other_copy(&queue[q]);
        const struct impair_stats before = next->stats;

        impair_init(next, &in_cycles, from->seed, from->stream + q * 2 * SWAGG_MAX_PORTS);
        memcpy(next->stats.hit, before.hit, sizeof(before.hit));
        __atomic_store_n(&queue[q].impair, impair_active(cfg) ? next : NULL, __ATOMIC_RELEASE);
    }
}

void port_settle(struct port_queue *queue, unsigned queues)
{
    for (unsigned q = 0; q < queues; q++)
        for (unsigned i = 0; i < 2; i++)
            if (queue[q].impair != &queue[q].copy[i])
                impair_mbufs_flush(&queue[q].copy[i]);
}

static bool takes_merged(const struct port *port)
{
    return port->device->carry != NULL && port_impairments(&port->rx[0]) == NULL &&
           port_impairments(&port->tx[0]) == NULL;
}

void port_carry_merged(struct port port[], uint64_t ports, const struct net_mac *local,
                       struct rte_mempool *long_buffers)
{
    for (uint64_t left = ports; left != 0; left &= left - 1)
        if (!takes_merged(&port[rte_bsf64(left)]))
            long_buffers = NULL;
    for (uint64_t left = ports; left != 0; left &= left - 1) {
        struct port *p = &port[rte_bsf64(left)];

        if (p->device->carry != NULL)
            p->device->carry(p, local, long_buffers);
    }
}

static struct port_queue *make_queues(unsigned n, const struct impair_config *cfg, uint64_t seed,
                                      unsigned stream)
{
    struct port_queue *queue = rte_zmalloc("queues", n * sizeof(*queue), RTE_CACHE_LINE_SIZE);
    const struct port_impair_seed from = {seed, stream};

    if (queue != NULL)
        port_impair(queue, n, cfg, &from);
    return queue;
}

static int make_impairments(struct port *port, unsigned index, const struct config *cfg)
{
    const struct config_impair *impair = &cfg->port[index].impair;

    port->rx = make_queues(port->rx_queues, &impair->rx, cfg->seed, index * 2);
    port->tx = make_queues(port->tx_queues, &impair->tx, cfg->seed, index * 2 + 1);
    if (port->rx != NULL && port->tx != NULL)
        return 0;
    return log_fail(-ENOMEM, "port %s: no memory for its queues: raise memory.megabytes (now %u)", port->name,
                    cfg->memory.megabytes);
}

static int make_ring(struct port *port, unsigned index)
{
    char ring[RTE_RING_NAMESIZE];

    snprintf(ring, sizeof(ring), "to_send_%u", index);
    port->to_send = rte_ring_create(ring, PORT_RING_SIZE, SOCKET_ID_ANY, MANY_TO_ONE);
    if (port->to_send != NULL)
        return 0;
    log_error("port %s: no memory for its ring: %s", port->name, rte_strerror(rte_errno));
    return -rte_errno;
}

static int make_state(struct port *port, const struct port_device *device)
{
    port->state = calloc(1, device->state_bytes);
    if (port->state == NULL)
        return log_fail(-ENOMEM, "port %s: no memory", port->name);
    port->device = device; /* from here on there is something to close */
    return 0;
}

int port_open(struct port *port, unsigned index, const struct config *cfg,
              const struct port_resources *resources)
{
    const struct config_port *pc = &cfg->port[index];
    int rc;

    memcpy(port->name, pc->name, sizeof(port->name));
    config_device_name(port->device_name, pc->device);
    port->max_frame = cfg->mtu + FRAME_PORT_BYTES;
    port->rx_queues = (uint16_t)pc->rx_queues;
    port->tx_queues = (uint16_t)pc->tx_queues;
    port->storm = pc->storm;
    port->ecn_above = pc->ecn_above;

    rc = make_impairments(port, index, cfg);
    if (rc == 0)
        rc = make_ring(port, index);
    if (rc < 0)
        return rc;
    rc = make_state(port, config_is_kernel_device(pc->device) ? &port_linux : &port_dpdk);
    return rc < 0 ? rc : port->device->open(port, pc, resources);
}

int port_lock(struct port *port, unsigned if_index)
{
    const int rc = linux_lock(if_index);

    port->locked = rc == 0 ? if_index : 0;
    return rc;
}

void port_unlock(struct port *port)
{
    if (port->locked != 0)
        linux_unlock(port->locked);
    port->locked = 0;
}

static const char *how_to_mend(int rc)
{
    switch (rc) {
    case -EPERM:
        return ": be root, or have the capabilities CAP_NET_RAW and CAP_NET_ADMIN";
    case -ENODEV:
        return ": `ip link` lists those of this machine, and of this network namespace";
    default:
        return "";
    }
}

void port_say_refused(const struct port *port, const char *interface, unsigned if_index, int rc)
{
    if (rc == -EADDRINUSE)
        log_error("port %s: interface %s is in use by another swagg, process %d: stop that, or give one of "
                  "them another interface",
                  port->name, interface, linux_lock_holder(if_index));
    else if (rc == -EALREADY)
        log_error("port %s: interface %s is another port's of this switch, under this or another name: "
                  "give one of them another interface",
                  port->name, interface);
    else
        log_error("port %s: cannot open interface %s: %s%s", port->name, interface, strerror(-rc),
                  how_to_mend(rc));
}

int port_start(struct port *port)
{
    int rc = port->device->start == NULL ? 0 : port->device->start(port);

    if (rc < 0)
        log_error("port %s: cannot start: %s", port->name, rte_strerror(-rc));
    return rc;
}

const char *port_queue_name(char name[PORT_QUEUE_NAME_MAX], const struct port *port, unsigned queues,
                            unsigned queue)
{
    if (queues > 1)
        snprintf(name, PORT_QUEUE_NAME_MAX, "%s:%u", port->name, queue);
    else
        snprintf(name, PORT_QUEUE_NAME_MAX, "%s", port->name);
    return name;
}

static void free_queues(struct port_queue *queue, unsigned n)
{
    for (unsigned q = 0; queue != NULL && q < n; q++)
        for (unsigned i = 0; i < 2; i++)
            impair_mbufs_flush(&queue[q].copy[i]);
    rte_free(queue);
}

void port_close(struct port *port)
{
    struct rte_mbuf *m;

    if (port->device != NULL)
        port->device->close(port);
    port_unlock(port);
    free(port->state);
    free_queues(port->rx, port->rx_queues);
    free_queues(port->tx, port->tx_queues);
    while (port->to_send != NULL && rte_ring_dequeue(port->to_send, (void **)&m) == 0)
        rte_pktmbuf_free(m);
    rte_ring_free(port->to_send);
}
