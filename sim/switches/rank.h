/* A rank with several links: the real session and stream of each place (process_drive.h), the real decisions
 * on links and shares, and around them what libswagg does (lib/client: links.c, standby.c, rates.c, drive.c),
 * with events in the place of threads. */
#pragma once

#include "leaf_node.h"
#include "links/shares.h"
#include "process.h"
#include "switches/scenario.h"

enum switches_phase { RANK_JOINING, RANK_COMPUTING, RANK_CALLING, RANK_CLOSING, RANK_LEAVING, RANK_OVER };

struct switches_world;

/* At the node of its index: a job that sums nothing. */
struct switches_standby {
    struct ctl_session session;
    struct socket control;
};

struct switches_rank {
    struct switches_world *world;
    unsigned rank;
    enum switches_phase phase;
    bool failed, dead;
    char why[CTL_TEXT_MAX]; /* it has failed */
    char name[16];
    struct sim_alarm wake;
    uint64_t rng, phase_ends, look_at; /* phase_ends: by then, or at the latest */
    uint16_t next_port;
    struct links links;
    struct shares shares;
    struct process place[SWITCHES_MAX];
    unsigned node[SWITCHES_MAX]; /* by place */
    struct switches_standby standby[SWITCHES_MAX];
    unsigned call;                 /* in progress, or next */
    uint32_t streamed;             /* calls that the streams have had; as they count them, ... */
    uint32_t number, agreement;    /* ... the one in progress, and that by which ranks agree behind it */
    struct xfer_segment tensor[2]; /* of these */
};

/* The ranks, for one another. */
struct switches_world {
    const struct switches_scenario *scenario;
    struct sim sim;
    uint64_t rng;
    struct switches_node {
        struct switches_world *world;
        struct star star;
        struct switch_node root;
        struct leaf_node leaf[SWITCHES_LEAVES_MAX];
        unsigned holds[1 + SWITCHES_LEAVES_MAX]; /* faults that keep each down, the root first */
    } node[SWITCHES_MAX];
    struct oracle oracle;
    unsigned open; /* ranks that have been */
    bool begun;    /* faults, once all are */
    struct switches_rank rank[SWITCHES_RANKS_MAX];
    uint64_t lost, back, agreed, succeeded, failed; /* links; calls; ranks */
    uint64_t digest;                                /* of all that ranks did, and when */
};

void switches_rank_start(struct switches_rank *r, struct switches_world *world, unsigned rank);
void switches_rank_fini(struct switches_rank *r);
void switches_rank_kill(struct switches_rank *r);

/* Takes over the frame, which came from there. False, and it does not, if it is nobody's. */
bool switches_rank_receive(struct switches_rank *r, unsigned node, struct frame *f);
