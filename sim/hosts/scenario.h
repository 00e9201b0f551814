/* What a seed stands for: a job whose ranks share hosts, its calls, the network between the hosts, and what
 * goes wrong. */
#pragma once

#include "link.h"
#include "switch_node.h"

enum {
    HOSTS_RANKS_MAX = 12,
    HOSTS_MAX = 4,
    HOSTS_CALLS_MAX = 8,
    HOSTS_DEATHS_MAX = 2,
    HOSTS_RESTARTS_MAX = 3
};

struct hosts_scenario {
    uint64_t seed;
    bool benign; /* nothing happens that may keep the job from its end */
    bool prompt; /* deadlines are long enough for all that happens but deaths and calls that differ */
    unsigned ranks, hosts;
    unsigned host[HOSTS_RANKS_MAX];
    size_t block_bytes;
    bool whole; /* numbers that give the same in any order; else floats, and ordered jobs */
    enum xfer_mode mode;
    unsigned calls;
    struct xfer_call call[HOSTS_CALLS_MAX];
    unsigned asides[HOSTS_CALLS_MAX]; /* so many before each, which go another way and are not waited for */
    uint64_t call_timeout_ns, join_timeout_ns;
    uint64_t compute_ns, step_ns; /* at most, before a call; of one step in memory, mostly much less */
    struct {
        bool does, aside; /* aside: and waits for a call that goes another way */
        unsigned rank, call;
        uint64_t count;
    } differs; /* a rank, which calls that */
    unsigned deaths;
    struct {
        unsigned rank;
        uint64_t at; /* its steps until then */
    } death[HOSTS_DEATHS_MAX];
    unsigned restarts; /* of the switch */
    struct {
        uint64_t at, lasts;
    } restart[HOSTS_RESTARTS_MAX];
    struct link_quality quality; /* of every link */
    uint16_t slots, chunk_bytes;
    struct switch_config switch_config;
};

void hosts_draw(struct hosts_scenario *s, uint64_t seed);
