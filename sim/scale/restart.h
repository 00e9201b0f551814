/* What a restart of a leaf costs: the whole of a simulated world (world.h) with a tree of two levels, so the
 * ranks learn of it, join again and resume by the real control messages, proxies and registry. Its switches
 * take no time for a packet. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct restart_config {
    unsigned leaves, workers; /* workers: at each leaf */
    uint64_t bits_per_s, delay_ns;
    uint32_t loss_ppm;
    uint64_t tensor_bytes; /* of the allreduce in the middle of which a leaf is killed */
    uint64_t down_ns;      /* until it is started again */
    uint64_t seed;
};

struct restart_result {
    bool exact;       /* every call of every rank succeeded, with the exact sum, as without a restart */
    double usual_s;   /* what the allreduce needs on the links */
    double delayed_s; /* how much later the last rank had everything than in the same run without a restart */
};

struct restart_result restart_run(const struct restart_config *cfg);
