#include "show/delays.h"

enum { NS_PER_US = 1000 };

static bool noted(const struct job *running, uint16_t rank, struct agg_rank_view *v)
{
    return running != NULL && running->common.protocol->view_rank != NULL &&
           running->common.protocol->view_rank(running->common.pool, rank, v);
}

static uint64_t mean_us(const struct agg_rank_view *v)
{
    return v->contributions == 0 ? 0 : v->delay_sum_ns / v->contributions / NS_PER_US;
}

static void write_counts(struct writer *w, const struct agg_rank_view *v)
{
    writer_counter(w, "contributions", v->contributions);
    writer_counter(w, "bytes", v->bytes);
    writer_counter(w, "repeated", v->repeated);
    writer_counter(w, "probes", v->probes);
    writer_counter(w, "missed", v->missed);
}

/* Bucket 0 is less than 1.024 us, and each further one twice as long. */
static void write_histogram(struct writer *w, const struct agg_rank_view *v)
{
    unsigned n = AGG_DELAY_BUCKETS;

    while (n > 0 && v->delays[n - 1] == 0)
        n--;
    writer_numbers(w, "late_us_log2");
    for (unsigned i = 0; i < n; i++)
        writer_number(w, NULL, v->delays[i]);
    writer_end(w);
}

/* In a tree of switches nothing is noted of ranks that come by the switch above, so that all is 0. */
static bool is_elsewhere(const struct job *running)
{
    return running != NULL && running->parent != NULL && running->made_of.delays;
}

void delays_write_rank(struct writer *w, const struct job *running, uint16_t rank)
{
    struct agg_rank_view v = {0};

    if (!noted(running, rank, &v) && !is_elsewhere(running))
        return;
    write_counts(w, &v);
    writer_counter(w, "was_last", v.completed);
    writer_number(w, "late_us_mean", mean_us(&v));
    writer_number(w, "late_us_last", v.delay_last_ns / NS_PER_US);
    writer_number(w, "late_us_worst", v.delay_worst_ns / NS_PER_US);
    write_histogram(w, &v);
}

void delays_write_job(struct writer *w, const struct job *running, uint16_t ranks)
{
    struct agg_rank_view v, all = {0}, latest = {0};
    uint16_t latest_rank = 0;

    if (!noted(running, 0, &v) && !is_elsewhere(running))
        return;
    for (uint16_t rank = 0; rank < ranks; rank++) {
        if (!noted(running, rank, &v))
            continue;
        all.contributions += v.contributions;
        all.bytes += v.bytes;
        all.repeated += v.repeated;
        all.probes += v.probes;
        all.missed += v.missed;
        if (v.delay_sum_ns > latest.delay_sum_ns) {
            latest = v;
            latest_rank = rank;
        }
    }
    write_counts(w, &all);
    writer_number(w, "contributions_per_s", __atomic_load_n(&running->rate.contributions, __ATOMIC_RELAXED));
    writer_number(w, "bytes_per_s", __atomic_load_n(&running->rate.bytes, __ATOMIC_RELAXED));
    writer_number(w, "latest_rank", latest_rank);
    writer_number(w, "latest_us_mean", mean_us(&latest));
}
