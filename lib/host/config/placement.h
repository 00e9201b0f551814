/* Which lcore does what: every polling lcore has a list of tasks (docs/architecture.md, "Threads and
 * owners").
 *
 * Pure: plain structs, no allocation, no output. Ports and shards are bits of a word, one word for each
 * number of a queue, so that "who owns this queue of port p" and "is every shard owned once" are set
 * operations.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/limits.h"

enum { PLACEMENT_ANY_CPU = -1 };

struct placement_lcore {
    int cpu; /* PLACEMENT_ANY_CPU until placement_pin has chosen one */
    uint64_t rx[SWAGG_MAX_QUEUES], tx[SWAGG_MAX_QUEUES]; /* [q] bit p: this lcore receives from, sends to
                                                            queue q of port p */
    uint64_t shards; /* bit s: this lcore aggregates shard s: the slots i with i % placement.shards == s */
};

/* The queues that there are to be placed. */
struct placement_ports {
    unsigned ports;                                                  /* 1.. */
    uint32_t rx_queues[SWAGG_MAX_PORTS], tx_queues[SWAGG_MAX_PORTS]; /* 1..SWAGG_MAX_QUEUES */
};

struct placement {
    unsigned lcores; /* 1.. */
    unsigned shards; /* 0: nothing is aggregated */
    struct placement_lcore lcore[SWAGG_MAX_LCORES];
};

/* Whether they place the same tasks on the same CPUs. */
bool placement_same(const struct placement *a, const struct placement *b);

/* The placement used where the configuration gives none: run to completion. max(1, min(ports, cpus / 2))
 * lcores, where a port counts as often as it has RX queues; ports and queues are dealt to them in turn, RX
 * and TX together, and each has one shard. Few lcores, because every hand-over between them costs, and chunks
 * of different shards overtake each other; the other CPUs are for the main lcore, the kernel's part of
 * virtual ports, and whatever else the machine does. cpus >= 1. */
void placement_default(struct placement *p, unsigned cpus, const struct placement_ports *ports);

/* Bit p: port p has a queue of this number. queues: how many each port has; 0: it is none. */
uint64_t placement_with_queue(const uint32_t queues[SWAGG_MAX_PORTS], unsigned q);

/* Gives every lcore without a CPU the one of cpu[0..cpus-1] (those that the process may use) with the fewest
 * polling lcores, the first such from cpu[1] on. cpu[0] is the main lcore's, and is used only if there is no
 * other, or other processes poll on all others. others[i]: how many of their threads poll on cpu[i]. */
void placement_pin(struct placement *p, const int cpu[], unsigned cpus, const unsigned others[]);

/* The first lcore whose CPU is not among cpu[]; -1: there is none. */
int placement_find_stray(const struct placement *p, const int cpu[], unsigned cpus);

/* Ports have come and gone: takes away queues that there are no more, and gives each that no lcore has to the
 * one with the fewest of those that receive, or send, at all. A queue that stays stays where it is. */
void placement_follow(struct placement *p, const struct placement_ports *ports);

/* The queue of this port by which lcore l receives, or sends, the first if it has several; -1: none. */
int placement_rx_queue(const struct placement_lcore *l, unsigned port);
int placement_tx_queue(const struct placement_lcore *l, unsigned port);
