#include "show/delays.h"

#include <string.h>

enum { NS_PER_US = 1000 };

static bool noted(const struct switch_job *running, uint16_t rank, struct agg_rank_view *v)
{
    return running != NULL && running->common.protocol->view_rank != NULL &&
           running->common.protocol->view_rank(running->common.pool, rank, v);
}

static uint64_t mean_us(const struct agg_rank_view *v)
{
    return v->contributions == 0 ? 0 : v->delay_sum_ns / v->contributions / NS_PER_US;
}

/* In a tree of switches nothing is noted of ranks that come by the switch above, so that all is 0. */
static bool is_elsewhere(const struct switch_job *running)
{
    return running != NULL && running->parent != NULL && running->made_of.delays;
}

void delays_of_rank(struct rank_view *row, const struct switch_job *running, uint16_t rank)
{
    struct agg_rank_view v = {0};

    row->delays_noted = noted(running, rank, &v) || is_elsewhere(running);
    row->contributions = v.contributions;
    row->bytes = v.bytes;
    row->repeated = v.repeated;
    row->probes = v.probes;
    row->missed = v.missed;
    row->was_last = v.completed;
    row->late_us_mean = mean_us(&v);
    row->late_us_last = v.delay_last_ns / NS_PER_US;
    row->late_us_worst = v.delay_worst_ns / NS_PER_US;
    memcpy(row->delays, v.delays, sizeof(v.delays));
    row->late_us_log2 = (struct view_numbers){AGG_DELAY_BUCKETS, row->delays};
    while (row->late_us_log2.n > 0 && row->delays[row->late_us_log2.n - 1] == 0)
        row->late_us_log2.n--;
}

void delays_of_job(struct job_view *shown, const struct switch_job *running, uint16_t ranks)
{
    struct agg_rank_view v, latest = {0};

    shown->delays = noted(running, 0, &v) || is_elsewhere(running);
    if (!shown->delays)
        return;
    for (uint16_t rank = 0; rank < ranks; rank++) {
        if (!noted(running, rank, &v))
            continue;
        shown->contributions += v.contributions;
        shown->bytes += v.bytes;
        shown->repeated += v.repeated;
        shown->probes += v.probes;
        shown->missed += v.missed;
        if (v.delay_sum_ns > latest.delay_sum_ns) {
            latest = v;
            shown->latest_rank = rank;
        }
    }
    shown->contributions_per_s = __atomic_load_n(&running->rate.contributions, __ATOMIC_RELAXED);
    shown->bytes_per_s = __atomic_load_n(&running->rate.bytes, __ATOMIC_RELAXED);
    shown->latest_us_mean = mean_us(&latest);
}
