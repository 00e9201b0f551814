/* What a seed stands for: a job by several switches, each of which every rank reaches by a link of its own,
 * also as the root of a tree, and what goes wrong with these. */
#pragma once

#include "switch_node.h"

enum { SWITCHES_RANKS_MAX = 4, SWITCHES_MAX = 3, SWITCHES_LEAVES_MAX = 3, SWITCHES_FAULTS_MAX = 6 };

enum { SWITCHES_ROOT = -1 };

enum switches_fault_kind { SWITCHES_CUT, SWITCHES_SILENT, SWITCHES_RESTART };

struct switches_fault {
    enum switches_fault_kind kind;
    uint64_t at, lasts;
    unsigned node;
    int which;     /* of its switches: a leaf, or SWITCHES_ROOT; not of SWITCHES_CUT */
    unsigned host; /* of SWITCHES_CUT: whose cable, ... */
    bool up, down; /* ... which directions */
};

/* One of the switches that share calls, and those below it. Its hosts are the ranks, then the leaves. */
struct switches_tree {
    unsigned leaves;
    int at[SWITCHES_RANKS_MAX + SWITCHES_LEAVES_MAX]; /* by host: its leaf, or SWITCHES_ROOT */
};

struct switches_scenario {
    uint64_t seed;
    bool trees;  /* each switch is a root, and leaves are below it */
    bool benign; /* one switch is always there, for all, and nobody dies: all must succeed */
    unsigned ranks, nodes, calls;
    uint64_t long_count, short_count; /* elements; most calls are long, for which ranks agree soon */
    uint64_t compute_ns;              /* at most, before a call */
    uint64_t link_timeout_ns, call_timeout_ns;
    uint16_t slots, chunk_bytes;
    struct link_quality quality[SWITCHES_MAX];
    struct switches_tree tree[SWITCHES_MAX];
    unsigned faults;
    struct switches_fault fault[SWITCHES_FAULTS_MAX];
    bool dies; /* a rank */
    unsigned mortal;
    uint64_t dies_at;
    struct switch_config switch_config;
};

void switches_draw(struct switches_scenario *s, uint64_t seed);

/* Whether the cable ends at this switch of the node's. */
bool switches_is_at(const struct switches_scenario *s, unsigned node, int which, unsigned host);
