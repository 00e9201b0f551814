#include "port/buffers_near.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <rte_eal.h>
#include <rte_mempool.h>

#include "base/log.h"
#include "base/nodes.h"
#include "port/buffers.h"

enum { BUFFERS_A_FURTHER_QUEUE = 1024, BUFFERS_AN_LCORE = 2048 };

int buffers_port_node(const struct config_port *port)
{
    char address[CONFIG_DEVICE_MAX];

    if (config_is_kernel_device(port->device))
        return node_of_interface(port->device + strlen(CONFIG_KERNEL_DEVICE));
    config_device_name(address, port->device);
    return node_of_pci(address);
}

/* The node's pool, else the first. */
static unsigned find(const struct buffers *b, int node)
{
    for (unsigned i = 0; i < b->n; i++)
        if (b->node[i] == node)
            return i;
    return 0;
}

static void find_nodes(struct buffers *b, const struct config *cfg)
{
    for (unsigned p = 0; p < cfg->ports; p++) {
        const int node = buffers_port_node(&cfg->port[p]);

        if (node >= 0 && (b->n == 0 || b->node[find(b, node)] != node))
            b->node[b->n++] = node;
    }
    if (b->n <= 1) {
        b->n = 1;
        b->node[0] = SOCKET_ID_ANY;
    }
}

void buffers_plan(struct buffers *b, const struct config *cfg, unsigned lcores)
{
    *b = (struct buffers){0};
    find_nodes(b, cfg);
    for (unsigned i = 0; i < b->n; i++)
        b->count[i] = (lcores + 1) * BUFFERS_AN_LCORE + cfg->pool.kept_frames;
    for (unsigned p = 0; p < cfg->ports; p++) {
        const struct config_port *port = &cfg->port[p];

        b->of_port[p] = (uint8_t)find(b, buffers_port_node(port));
        b->count[b->of_port[p]] +=
            BUFFERS_A_PORT + (port->rx_queues - 1 + port->tx_queues - 1) * BUFFERS_A_FURTHER_QUEUE;
    }
}

size_t buffers_planned_bytes(const struct buffers *b, uint16_t bytes)
{
    size_t sum = 0;

    for (unsigned i = 0; i < b->n; i++)
        sum += buffers_bytes(b->count[i], bytes);
    return sum;
}

int buffers_open(struct buffers *b, uint16_t bytes)
{
    char name[RTE_MEMPOOL_NAMESIZE] = "mbufs";

    for (unsigned i = 0; i < b->n; i++) {
        if (b->n > 1) {
            snprintf(name, sizeof(name), "mbufs_node_%d", b->node[i]);
            log_notice(
                "memory: %u packet buffers for the ports of NUMA node %d%s", b->count[i], b->node[i],
                rte_eal_has_hugepages()
                    ? ""
                    : ", in ordinary pages, so wherever the kernel puts them: hugepages would be near");
        }
        b->pool[i] = buffers_make(name, b->count[i], BUFFERS_CACHE, bytes, b->node[i]);
        if (b->pool[i] == NULL)
            return -ENOMEM;
    }
    return 0;
}

void buffers_close(struct buffers *b)
{
    for (unsigned i = 0; i < b->n; i++)
        rte_mempool_free(b->pool[i]);
    *b = (struct buffers){0};
}

struct rte_mempool *buffers_near(const struct buffers *b, int node)
{
    return b->pool[find(b, node)];
}
