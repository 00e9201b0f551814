#include "switch_parts.h"

int numbered_jobs_free_number(const struct numbered_jobs *jobs, int numbers, const struct ctl_entry *job)
{
    int best = -1;

    for (int i = 0; i < numbers; i++)
        if (jobs->job[i] == NULL && !ctl_entry_had_number(job, (uint8_t)i) &&
            (best < 0 || jobs->freed[i] < jobs->freed[best]))
            best = i;
    return best;
}

void *numbered_jobs_take_out(struct numbered_jobs *jobs, unsigned number)
{
    void *job = jobs->job[number];

    jobs->job[number] = NULL;
    jobs->freed[number] = ++jobs->frees;
    return job;
}

void numbered_jobs_clear(struct numbered_jobs *jobs, void (*free_job)(void *ctx, unsigned number), void *ctx)
{
    for (unsigned i = 0; i < AGG_JOBS; i++)
        if (jobs->job[i] != NULL)
            free_job(ctx, i);
    *jobs = (struct numbered_jobs){0};
}

void switch_refuse(struct star *star, const struct agg_protocol *protocol, const struct frame *f,
                   const struct agg_packet *p, uint64_t boot_id)
{
    uint8_t answer[AGG_ANSWER_BYTES];
    const size_t bytes = protocol->refuse(p, boot_id, answer);

    if (bytes > 0)
        star_send_down(star, f->host, f->host_port, f->switch_port, answer, bytes, false);
}
