#include "aggregate/jobs_rates.h"

enum { SECOND_NS = 1000000000 };

/* Of all members, since the job began. */
static struct job_rate counts_of(const struct job *job)
{
    struct job_rate sum = {0};
    struct agg_rank_view v;

    for (uint16_t rank = 0; job->common.protocol->view_rank != NULL && rank < job->ranks; rank++) {
        if (!job->common.protocol->view_rank(job->common.pool, rank, &v))
            continue;
        sum.contributions += v.contributions;
        sum.bytes += v.bytes;
    }
    return sum;
}

/* What grew by so much in so many ns; a job that has started over counts from 0 again. */
static uint64_t per_second(uint64_t before, uint64_t now, uint64_t ns)
{
    return now < before ? 0 : (uint64_t)((double)(now - before) * SECOND_NS / (double)ns);
}

static void note_rate(struct job *job, uint64_t ns)
{
    const struct job_rate counts = counts_of(job);

    __atomic_store_n(&job->rate.contributions,
                     per_second(job->counted.contributions, counts.contributions, ns), __ATOMIC_RELAXED);
    __atomic_store_n(&job->rate.bytes, per_second(job->counted.bytes, counts.bytes, ns), __ATOMIC_RELAXED);
    job->counted = counts;
}

void jobs_rates_tick(struct jobs *jobs, uint64_t now)
{
    const uint64_t ns = now - jobs->rated_at;

    if (ns < SECOND_NS)
        return;
    jobs->rated_at = now;
    for (unsigned i = 0; i < COUNTED_PROTOCOLS * JOBS_MAX; i++) {
        struct job *job = (struct job *)agg_jobs_find(&jobs->running[i / JOBS_MAX], i % JOBS_MAX);

        if (job != NULL)
            note_rate(job, ns);
    }
}
