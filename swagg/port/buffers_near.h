/* The packet buffers that a switch starts with, near the NICs that write into them: a pool for each NUMA node
 * that has ports; mostly, where that is one node or the machine tells of none, one pool. What jobs keep may
 * lie in any of them, so each has as many more as all jobs together may keep.
 *
 * The main lcore plans, opens and closes them; in between they are only read.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "config/config.h"

struct rte_mempool;

enum {
    BUFFERS_CACHE = 256, /* that an lcore may set aside */
    /* A port's queues hold up to two rings of descriptors, what is handed over waits in its ring, and an
     * impairment may hold some back. */
    BUFFERS_A_PORT = 4096,
};

struct buffers {
    unsigned n;                       /* pools; the first is also for ports that are on no node */
    int node[SWAGG_MAX_PORTS];        /* by pool; negative: the only one, anywhere */
    unsigned count[SWAGG_MAX_PORTS];  /* of buffers, by pool */
    uint8_t of_port[SWAGG_MAX_PORTS]; /* the pool that it receives into */
    struct rte_mempool *pool[SWAGG_MAX_PORTS];
};

/* A port's NUMA node, as the kernel has it; negative: it has none, or there is no such NIC. */
int buffers_port_node(const struct config_port *port);

/* Says which pools there are to be, and for whom. At any time. */
void buffers_plan(struct buffers *b, const struct config *cfg, unsigned lcores);

/* The memory that they take, for frames of so many bytes. */
size_t buffers_planned_bytes(const struct buffers *b, uint16_t bytes);

/* Makes the pools that were planned. 0, or -ENOMEM; close follows in any case. */
int buffers_open(struct buffers *b, uint16_t bytes);
void buffers_close(struct buffers *b);

/* The pool of this node, else the first. */
struct rte_mempool *buffers_near(const struct buffers *b, int node);

static inline bool buffers_have(const struct buffers *b, const struct rte_mempool *pool)
{
    for (unsigned i = 0; i < b->n; i++)
        if (b->pool[i] == pool)
            return true;
    return false;
}
