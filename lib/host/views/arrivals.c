#include "views/arrivals.h"

#include <string.h>

#include "protocol/ranks.h"

enum { NS_PER_US = 1000 };

static bool noted(const struct agg_job *running, uint16_t rank, struct agg_rank_view *v)
{
    return running != NULL && running->protocol->view_rank != NULL &&
           running->protocol->view_rank(running->pool, rank, v);
}

static uint64_t mean_us(const struct agg_rank_view *v)
{
    return v->contributions == 0 ? 0 : v->delay_sum_ns / v->contributions / NS_PER_US;
}

void arrivals_of_rank(struct rank_view *row, const struct agg_job *running, bool above, uint16_t rank)
{
    struct agg_rank_view v = {0};

    row->delays_noted = noted(running, rank, &v) || above;
    row->together = row->delays_noted && v.sender != rank;
    row->sent_with = v.sender;
    row->contributions = v.contributions;
    row->bytes = v.bytes;
    row->repeated = v.repeated;
    row->probes = v.probes;
    row->missed = v.missed;
    row->was_last = v.completed;
    row->lost_up = v.lost_up;
    row->lost_down = v.lost_down;
    row->delayed_us = v.delay_sum_ns / NS_PER_US;
    row->late_us_mean = mean_us(&v);
    row->late_us_last = v.delay_last_ns / NS_PER_US;
    row->late_us_worst = v.delay_worst_ns / NS_PER_US;
    memcpy(row->delays, v.delays, sizeof(v.delays));
    row->late_us_log2 = (struct view_delays){AGG_DELAY_BUCKETS, row->delays, v.delay_sum_ns};
    while (row->late_us_log2.n > 0 && row->delays[row->late_us_log2.n - 1] == 0)
        row->late_us_log2.n--;
}

void arrivals_of_job(struct job_view *shown, const struct agg_job *running, bool above, uint16_t ranks)
{
    struct agg_rank_view v, latest = {0};

    shown->delays = noted(running, 0, &v) || above;
    if (!shown->delays)
        return;
    for (uint16_t rank = 0; rank < ranks; rank++) {
        if (!noted(running, rank, &v) || v.sender != rank)
            continue;
        shown->contributions += v.contributions;
        shown->bytes += v.bytes;
        shown->repeated += v.repeated;
        shown->probes += v.probes;
        shown->missed += v.missed;
        shown->lost_up += v.lost_up;
        shown->lost_down += v.lost_down;
        if (v.delay_sum_ns > latest.delay_sum_ns) {
            latest = v;
            shown->latest_rank = rank;
        }
    }
    shown->latest_us_mean = mean_us(&latest);
}

struct view_ranks arrivals_lacked_by(const struct agg_slot_view *slot, uint16_t size)
{
    struct view_ranks lacked = {0};

    for (unsigned i = 0; i < ranks_words(size); i++)
        lacked.set[i] = ranks_below(size, i) & ~slot->ranks[i];
    return lacked;
}

struct view_ranks arrivals_awaited(const struct agg_job *running, uint16_t size)
{
    struct view_ranks awaited = {0};
    struct agg_slot_view slot;
    bool begun = false;

    for (unsigned i = 0; running != NULL && running->protocol->view(running->pool, i, &slot); i++) {
        const struct view_ranks lacked = arrivals_lacked_by(&slot, size);

        if (slot.contributed == 0)
            continue;
        for (unsigned w = 0; w < ranks_words(size); w++)
            awaited.set[w] = lacked.set[w] & (begun ? awaited.set[w] : UINT64_MAX);
        begun = true;
    }
    return awaited;
}
