#include "aggregate/jobs_frames.h"

#include <string.h>

#include "share/divide.h"

/* All running jobs, and what each claims. */
struct claims {
    unsigned n;
    struct job *job[COUNTED_PROTOCOLS * JOBS_MAX];
    struct share_claim claim[COUNTED_PROTOCOLS * JOBS_MAX + 1];
};

uint32_t jobs_kept_frames(const struct job *job)
{
    uint32_t kept = 0;

    for (unsigned l = 0; l < SWAGG_MAX_LCORES; l++)
        kept += __atomic_load_n(&job->lane[l].kept, __ATOMIC_RELAXED);
    return kept;
}

static bool is_of(const struct job *job, unsigned tenant)
{
    return job->tenant == (int)tenant;
}

/* What each job can use; a tenant's weight is divided among its jobs. */
static void collect(const struct jobs *jobs, struct claims *c)
{
    c->n = 0;
    for (unsigned i = 0; i < COUNTED_PROTOCOLS * JOBS_MAX; i++) {
        struct agg_job *job = agg_jobs_find(&jobs->running[i / JOBS_MAX], i % JOBS_MAX);

        if (job == NULL || ((struct job *)job)->frames_wanted == 0)
            continue;
        c->job[c->n] = (struct job *)job;
        c->claim[c->n++] = (struct share_claim){.weight = jobs_weight(jobs, jobs_of(job)),
                                                .want = jobs_of(job)->frames_wanted};
    }
}

/* Lowers the claims of a tenant's jobs to what its quota has for them. */
static void hold_to_quota(struct claims *c, unsigned tenant, uint32_t quota)
{
    struct share_claim own[COUNTED_PROTOCOLS * JOBS_MAX];
    unsigned n = 0;

    for (unsigned i = 0; i < c->n; i++)
        if (is_of(c->job[i], tenant))
            own[n++] = c->claim[i];
    share_divide(quota, own, n);
    n = 0;
    for (unsigned i = 0; i < c->n; i++)
        if (is_of(c->job[i], tenant))
            c->claim[i].want = own[n++].get;
}

/* One more job like the average of these may come. */
static void leave_a_part(struct claims *c)
{
    uint64_t weights = 0;

    for (unsigned i = 0; i < c->n; i++)
        weights += c->claim[i].weight;
    c->claim[c->n] =
        (struct share_claim){.weight = (uint32_t)(weights / RTE_MAX(c->n, 1u)), .want = UINT32_MAX};
}

/* What is spoken for: a job may keep its part, or still keeps more. */
static uint32_t committed(const struct job *job)
{
    return RTE_MAX(job->frames, jobs_kept_frames(job));
}

static void set_part(struct job *job, uint32_t frames)
{
    __atomic_store_n(&job->frames, frames, __ATOMIC_RELAXED);
}

static void give(struct jobs *jobs, struct claims *c)
{
    uint64_t spoken_for = 0;

    for (unsigned i = 0; i < c->n; i++) {
        if (c->claim[i].get < c->job[i]->frames)
            set_part(c->job[i], c->claim[i].get);
        spoken_for += committed(c->job[i]);
    }
    for (const struct job *job = jobs->retired; job != NULL; job = job->next_retired)
        spoken_for += committed(job);
    for (unsigned i = 0; i < c->n; i++) {
        const uint32_t has = committed(c->job[i]);
        const uint64_t left = spoken_for < jobs->frames_max ? jobs->frames_max - spoken_for : 0;
        const uint32_t more = c->claim[i].get > has ? (uint32_t)RTE_MIN(c->claim[i].get - has, left) : 0;

        if (c->claim[i].get <= c->job[i]->frames)
            continue;
        set_part(c->job[i], RTE_MIN(c->claim[i].get, has + more));
        spoken_for += more;
    }
    __atomic_store_n(&jobs->frames, (uint32_t)spoken_for, __ATOMIC_RELAXED);
}

void jobs_divide_frames(struct jobs *jobs)
{
    struct claims c;

    collect(jobs, &c);
    for (unsigned t = 0; t < jobs->quota.tenants; t++)
        if (jobs->quota.tenant[t].quota.kept_frames != 0)
            hold_to_quota(&c, t, jobs->quota.tenant[t].quota.kept_frames);
    leave_a_part(&c);
    share_divide(jobs->frames_max, c.claim, c.n + 1);
    give(jobs, &c);
}
