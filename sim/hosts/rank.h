/* A rank's process: its part in the memory of its host, as libswagg's level has it (lib/client/local), step
 * by step, and its rail. Each step of the board is an event, between any two of which others may have
 * theirs. */
#pragma once

#include "hosts/rail.h"
#include "hosts/scenario.h"
#include "local/board.h"

enum rank_phase { RANK_OPENING, RANK_COMPUTING, RANK_CALLING, RANK_OVER, RANK_DEAD };

struct hosts_rank {
    struct hosts_world *world;
    unsigned rank;
    char name[16];
    enum rank_phase phase;
    uint64_t rng, wake_at, steps, deadline, slice;
    struct local_member member;
    struct local_step step;
    bool has_rail, open, rail_failed;
    struct rail rail;
    struct local_step share[2];          /* what the rail is to sum, of an even and an odd one */
    unsigned asked, given, summed, told; /* so many shares: by the board, to the rail, by it, to the board */
    bool at_rail;                        /* the board waits for it */
    unsigned call, begun;                /* in progress, or next; calls that it has begun */
    uint32_t made;                       /* these, and those that went aside */
    bool astray;                         /* the one in progress has, where the others' does not */
    bool failed;
    struct local_fault why;
    struct xfer_segment tensor;
};

/* The ranks of one job, for one another. */
struct hosts_world {
    const struct hosts_scenario *scenario;
    struct sim sim;
    uint64_t rng;
    struct star star;
    struct switch_node node;
    struct oracle oracle;
    struct local_plan plan;
    struct local_board *board[HOSTS_MAX];
    struct hosts_rank rank[HOSTS_RANKS_MAX];
    unsigned switch_holds;
    uint64_t restarts, deaths, succeeded, failed; /* that happened; calls; ranks that failed */
    uint64_t digest;                              /* of all that ranks did */
};

void hosts_rank_start(struct hosts_rank *r, struct hosts_world *world, unsigned rank);
void hosts_rank_fini(struct hosts_rank *r);

static inline bool hosts_rank_is_over(const struct hosts_rank *r)
{
    return r->phase >= RANK_OVER && (!r->has_rail || rail_is_over(&r->rail));
}
