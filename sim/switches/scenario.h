/* What a seed stands for: a job by several switches, each of which every rank reaches by a link of its own,
 * and what goes wrong with these. */
#ifndef SWAGG_SIM_SWITCHES_SCENARIO_H
#define SWAGG_SIM_SWITCHES_SCENARIO_H

#include "switch_node.h"

enum { SWITCHES_RANKS_MAX = 4, SWITCHES_MAX = 3, SWITCHES_FAULTS_MAX = 6 };

enum switches_fault_kind { SWITCHES_CUT, SWITCHES_SILENT, SWITCHES_RESTART };

struct switches_fault {
    enum switches_fault_kind kind;
    uint64_t at, lasts;
    unsigned node, rank; /* rank: of SWITCHES_CUT */
    bool up, down;       /* ... which directions */
};

struct switches_scenario {
    uint64_t seed;
    bool benign; /* one switch is always there, for all, and nobody dies: all must succeed */
    unsigned ranks, nodes, calls;
    uint64_t long_count, short_count; /* elements; most calls are long, for which ranks agree soon */
    uint64_t compute_ns;              /* at most, before a call */
    uint64_t link_timeout_ns, call_timeout_ns;
    uint16_t slots, chunk_bytes;
    struct link_quality quality[SWITCHES_MAX];
    unsigned faults;
    struct switches_fault fault[SWITCHES_FAULTS_MAX];
    bool dies; /* a rank */
    unsigned mortal;
    uint64_t dies_at;
    struct switch_config switch_config;
};

void switches_draw(struct switches_scenario *s, uint64_t seed);

#endif
