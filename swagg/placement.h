/* Which lcore does what: every polling lcore has a list of tasks (docs/architecture.md, "Threads and
 * owners").
 *
 * Pure: plain structs, no allocation, no output. Ports and shards are bits of a word, so that "who owns port
 * p" and "is every shard owned once" are set operations.
 */
#ifndef SWAGG_PLACEMENT_H
#define SWAGG_PLACEMENT_H

#include <stdint.h>

enum {
    SWAGG_MAX_PORTS = 64,
    SWAGG_MAX_SHARDS = 64,
    SWAGG_MAX_LCORES = 64, /* polling lcores; the main lcore is not among them */
    PLACEMENT_ANY_CPU = -1,
};

struct placement_lcore {
    int cpu;         /* PLACEMENT_ANY_CPU until placement_pin has chosen one */
    uint64_t rx, tx; /* bit p: this lcore receives from, sends to port p */
    uint64_t shards; /* bit s: this lcore aggregates shard s: the slots i with i % placement.shards == s */
};

struct placement {
    unsigned lcores; /* 1.. */
    unsigned shards; /* 0: nothing is aggregated */
    struct placement_lcore lcore[SWAGG_MAX_LCORES];
};

/* The placement used where the configuration gives none: run to completion. max(1, min(ports, cpus / 4))
 * lcores; ports are dealt to them in turn, RX and TX together, and each has one shard. Few lcores, because
 * every hand-over between them costs, and chunks of different shards overtake each other; the other CPUs are
 * for the main lcore, the kernel's part of virtual ports, and whatever else the machine does. cpus and ports
 * >= 1, ports <= SWAGG_MAX_PORTS. */
void placement_default(struct placement *p, unsigned cpus, unsigned ports);

/* What can be wrong with a placement. index is the port or shard, lcore the one that has it. */
enum placement_fault {
    PLACEMENT_RX_NONE,  /* a port that no lcore receives from */
    PLACEMENT_RX_TWICE, /* a port that two lcores receive from; lcore: the second */
    PLACEMENT_TX_NONE,  /* the same for sending */
    PLACEMENT_TX_TWICE,
    PLACEMENT_SHARD_NONE, /* the same for aggregating */
    PLACEMENT_SHARD_TWICE,
    PLACEMENT_UNKNOWN, /* a port or shard that does not exist */
    PLACEMENT_IDLE,    /* lcore has no task */
};

struct placement_finding {
    enum placement_fault fault;
    unsigned index, lcore;
};

/* Is every port received from by exactly one lcore and sent to by exactly one, every shard owned by exactly
 * one, and has every lcore something to do? Returns how many faults there are, 0 for a good placement, and
 * writes the first max of them. */
unsigned placement_check(const struct placement *p, unsigned ports, struct placement_finding findings[],
                         unsigned max);

/* Gives every lcore without a CPU one of cpu[0..cpus-1] (the CPUs the process may use), in turn from cpu[1]
 * on: cpu[0] is the main lcore's, shared only when there is no other. Polling lcores share CPUs if there are
 * more of them than CPUs. */
void placement_pin(struct placement *p, const int cpu[], unsigned cpus);

/* The first lcore whose CPU is not among cpu[]; -1: there is none. */
int placement_find_stray(const struct placement *p, const int cpu[], unsigned cpus);

/* The owner of a port's RX or TX, of a shard: lcore number, 0..lcores-1. The placement must be good. */
unsigned placement_rx_owner(const struct placement *p, unsigned port);
unsigned placement_tx_owner(const struct placement *p, unsigned port);
unsigned placement_shard_owner(const struct placement *p, unsigned shard);

#endif
