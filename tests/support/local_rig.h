/* Ranks on several hosts, each host with memory of its own, in one process: what the ranks do is chosen step
 * by step, and the rails sum as the switch would. */
#pragma once

#include <CUnit/CUnit.h>
#include <stdlib.h>
#include <string.h>

#include "local/board.h"
#include "random.h"

enum { RIG_RANKS = 12, RIG_SEGMENTS = 5 };

struct rig {
    struct local_plan plan;
    struct local_board *board[RIG_RANKS]; /* by host */
    struct local_member member[RIG_RANKS];
    struct xfer_segment segments[RIG_RANKS][RIG_SEGMENTS];
    struct local_step step[RIG_RANKS];
    struct local_step railing[RIG_RANKS][2]; /* what the rails have, an even and an odd share */
    unsigned begun[RIG_RANKS], railed[RIG_RANKS], told[RIG_RANKS];
    enum local_next at[RIG_RANKS];
    bool dead[RIG_RANKS]; /* makes no more steps */
};

/* hosts: of each rank. */
static inline void rig_open(struct rig *rig, const unsigned hosts[], unsigned ranks, size_t block_bytes)
{
    uint64_t ids[RIG_RANKS];

    memset(rig, 0, sizeof *rig);
    for (unsigned rank = 0; rank < ranks; rank++)
        ids[rank] = 100 + hosts[rank];
    local_plan_make(&rig->plan, ids, ranks);
    for (unsigned host = 0; host < rig->plan.hosts; host++) {
        const size_t bytes = local_board_bytes(rig->plan.locals[host], block_bytes);
        rig->board[host] = aligned_alloc(4096, bytes);
        memset(rig->board[host], 0, bytes);
    }
    for (unsigned rank = 0; rank < ranks; rank++) {
        local_member_init(&rig->member[rank], &rig->plan, rank, rig->board[rig->plan.host[rank]], block_bytes,
                          &agg_kernels_scalar);
        local_sit(&rig->member[rank], LOCAL_SEATED);
    }
}

static inline void rig_close(struct rig *rig)
{
    for (unsigned host = 0; host < rig->plan.hosts; host++)
        free(rig->board[host]);
}

static inline void rig_begin(struct rig *rig, unsigned rank, const struct xfer_call *call, size_t segments)
{
    uint64_t count;

    xfer_segments_measure(rig->segments[rank], segments, agg_element_size(call->type, call->op), &count);
    CU_ASSERT_EQUAL(count, call->count);
    local_begin(&rig->member[rank], call, rig->segments[rank], segments);
    rig->at[rank] = LOCAL_ON;
}

/* What all hosts have given to it, in what is the switch's way: host after host. */
static inline void rig_rail(struct rig *rig, unsigned rail)
{
    const void *in[RIG_RANKS];
    struct local_step *step[RIG_RANKS];

    for (unsigned host = 0; host < rig->plan.hosts; host++) {
        const unsigned rank = local_plan_rank(&rig->plan, host, rail);
        if (rig->railed[rank] == rig->begun[rank])
            return;
        step[host] = &rig->railing[rank][rig->railed[rank] % 2];
        CU_ASSERT_EQUAL(memcmp(&step[host]->call, &step[0]->call, sizeof step[0]->call), 0);
        in[host] = step[host]->elements;
    }
    const struct xfer_call *call = &step[0]->call;
    const unsigned code = agg_code(call->type, call->op);
    const size_t bytes = call->count * agg_code_bytes(code);
    uint8_t *out = malloc(bytes + 1), *swapped[RIG_RANKS];
    for (unsigned host = 0; host < rig->plan.hosts; host++) {
        swapped[host] = malloc(bytes + 1);
        agg_kernels_scalar.convert[call->type](swapped[host], in[host], bytes);
        in[host] = swapped[host];
    }
    if (bytes > 0)
        agg_kernels_scalar.operations[code].reduce(out, in, rig->plan.hosts, bytes);
    if (bytes > 0 && agg_kernels_scalar.operations[code].finish &&
        !agg_is_wide(&agg_kernels_scalar.operations[code]))
        agg_kernels_scalar.operations[code].finish(out, out, rig->plan.hosts, bytes);
    for (unsigned host = 0; host < rig->plan.hosts; host++) {
        if (xfer_gives(call->collective, call->root, host))
            agg_kernels_scalar.convert[call->type](step[host]->elements, out, bytes);
        else
            memset(step[host]->elements, 0xee, bytes);
        rig->railed[local_plan_rank(&rig->plan, host, rail)]++;
        free(swapped[host]);
    }
    free(out);
}

static inline bool rig_waits(const struct rig *rig, unsigned rank)
{
    return rig->at[rank] == LOCAL_WAIT || rig->at[rank] == LOCAL_RAILING;
}

/* One step of one rank; true: something was done. The rail sums when it likes: told is how many shares of it
 * the rank has been told of. */
static inline bool rig_go(struct rig *rig, unsigned rank)
{
    const enum local_next before = rig->at[rank];
    struct local_member *m = &rig->member[rank];
    bool told = false;

    if (rig->dead[rank] || (before != LOCAL_ON && !rig_waits(rig, rank)))
        return false;
    if (before == LOCAL_RAILING && rig->told[rank] != rig->railed[rank]) {
        rig->told[rank]++;
        local_railed(m);
        told = true;
    }
    rig->at[rank] = local_go(m, &rig->step[rank]);
    if (rig->at[rank] == LOCAL_RAIL) {
        rig->railing[rank][rig->begun[rank]++ % 2] = rig->step[rank];
        CU_ASSERT(rig->begun[rank] - rig->told[rank] <= 2);
        rig->at[rank] = LOCAL_ON;
        rig_rail(rig, m->me);
        return true;
    }
    return told || !rig_waits(rig, rank) || rig->at[rank] != before;
}

/* Steps of any rank, until nobody can make one. */
static inline void rig_run(struct rig *rig, uint64_t *rng)
{
    for (bool goes_on = true; goes_on;) {
        goes_on = false;
        for (unsigned i = 0; i < 4 * rig->plan.ranks; i++)
            goes_on |= rig_go(rig, (unsigned)rng_below(rng, rig->plan.ranks));
        for (unsigned rank = 0; rank < rig->plan.ranks; rank++)
            goes_on |= rig_go(rig, rank);
    }
}
