#include "aggregate/jobs_share.h"

#include <string.h>

#include "aggregate/fair.h"
#include "config/reserved.h"
#include "share/divide.h"

enum { SECOND_NS = 1000000000, EVERY_JOB = COUNTED_PROTOCOLS * JOBS_MAX };

/* All running jobs, and what each claims. */
struct claims {
    unsigned n;
    struct switch_job *job[EVERY_JOB];
    struct share_claim claim[EVERY_JOB + 1];
};

uint32_t jobs_kept_frames(const struct switch_job *job)
{
    uint32_t kept = 0;

    for (unsigned l = 0; l < SWAGG_MAX_LCORES; l++)
        kept += __atomic_load_n(&job->lane[l].kept, __ATOMIC_RELAXED);
    return kept;
}

/* Of all protocols; i counts through them. NULL: there is none. */
static struct switch_job *running_job(const struct jobs *jobs, unsigned i)
{
    return (struct switch_job *)agg_jobs_find(&jobs->running[i / JOBS_MAX], i % JOBS_MAX);
}

static bool is_of(const struct switch_job *job, unsigned tenant)
{
    return job->tenant == (int)tenant;
}

/* What each job can use; a tenant's weight is divided among its jobs. */
static void collect(const struct jobs *jobs, struct claims *c)
{
    c->n = 0;
    for (unsigned i = 0; i < EVERY_JOB; i++) {
        struct switch_job *job = running_job(jobs, i);

        if (job == NULL || job->frames_wanted == 0)
            continue;
        c->job[c->n] = job;
        c->claim[c->n++] = (struct share_claim){.weight = jobs_weight(jobs, job), .want = job->frames_wanted};
    }
}

/* Lowers the claims of a tenant's jobs to what its quota has for them. */
static void hold_to_quota(struct claims *c, unsigned tenant, uint32_t quota)
{
    struct share_claim own[EVERY_JOB];
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
static uint32_t committed(const struct switch_job *job)
{
    return RTE_MAX(job->frames, jobs_kept_frames(job));
}

static void set_part(struct switch_job *job, uint32_t frames)
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
    for (const struct switch_job *job = jobs->retired; job != NULL; job = job->next_retired)
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

/* Weights are multiplied, so that little is lost when they are divided. */
uint32_t jobs_weight(const struct jobs *jobs, const struct switch_job *job)
{
    const bool has_tenant = job->tenant >= 0 && (unsigned)job->tenant < jobs->quota.tenants;
    const uint32_t weight = has_tenant ? jobs->quota.tenant[job->tenant].weight : 1;
    unsigned sharing = 0;

    for (unsigned i = 0; has_tenant && i < EVERY_JOB; i++) {
        const struct switch_job *other = running_job(jobs, i);

        sharing += other != NULL && other->tenant == job->tenant;
    }
    return weight * (1u << 12) / RTE_MAX(sharing, 1u);
}

/* Divides turns on busy lcores by weight. */
static void share_turns_out(struct jobs *jobs)
{
    uint32_t count = 0, most = 1, longest = 0;

    for (unsigned i = 0; i < EVERY_JOB; i++) {
        const struct switch_job *job = running_job(jobs, i);

        if (job != NULL && job->takes_turns) {
            most = RTE_MAX(most, jobs_weight(jobs, job));
            longest = RTE_MAX(longest, job->frame_bytes);
            count++;
        }
    }
    const uint64_t quantum = FAIR_TURN_FRAMES * (longest + FAIR_FRAME_BYTES);

    for (unsigned i = 0; i < EVERY_JOB; i++) {
        struct switch_job *job = running_job(jobs, i);

        if (job != NULL && job->takes_turns)
            __atomic_store_n(&job->turn, 1 + (uint32_t)(quantum * jobs_weight(jobs, job) / most),
                             __ATOMIC_RELAXED);
    }
    __atomic_store_n(&jobs->count, count, __ATOMIC_RELAXED);
}

void jobs_share_out(struct jobs *jobs)
{
    share_turns_out(jobs);
    jobs_divide_frames(jobs);
}

void jobs_limit(struct jobs *jobs, const struct config *cfg)
{
    jobs->bytes_max = (size_t)cfg->pool.megabytes << 20;
    jobs->frames_max = cfg->pool.kept_frames;
    jobs->quota = (struct jobs_quota){.slots = cfg->pool.slots,
                                      .bytes_a_job = (size_t)cfg->pool.megabytes_per_job << 20,
                                      .frames_a_job = cfg->pool.kept_frames_per_job,
                                      .tenants = cfg->tenants + cfg->leaving,
                                      .tenant = cfg->tenant};
    jobs->delays = cfg->pool.delays;
}

void jobs_follow(struct jobs *jobs, const struct config *cfg, const int tenant[])
{
    jobs_limit(jobs, cfg);
    for (unsigned i = 0; i < EVERY_JOB; i++)
        if (running_job(jobs, i) != NULL && running_job(jobs, i)->tenant >= 0)
            running_job(jobs, i)->tenant = tenant[running_job(jobs, i)->tenant];
    jobs_share_out(jobs);
}

void jobs_set_tenant(struct jobs *jobs, unsigned protocol, uint8_t number, int tenant)
{
    struct switch_job *job = (struct switch_job *)agg_jobs_find(&jobs->running[protocol], number);

    if (job->tenant == tenant)
        return;
    job->tenant = tenant;
    jobs_share_out(jobs);
}

static unsigned list(const struct jobs *jobs, struct room_job to[EVERY_JOB])
{
    unsigned n = 0;

    for (unsigned i = 0; i < EVERY_JOB; i++) {
        const struct switch_job *job = running_job(jobs, i);

        if (job != NULL)
            to[n++] = (struct room_job){job->name, job->tenant, job->founder, job->slots, job->bytes};
    }
    return n;
}

bool jobs_have_room_for(const struct jobs *jobs, const struct room_job *asked, char text[AGG_TEXT_MAX])
{
    struct room_job running[EVERY_JOB + RESERVED_MAX];
    unsigned n = list(jobs, running);
    const uint64_t kept = jobs->reserved == NULL ? 0 : reserved_append(jobs->reserved, asked, running, &n);
    const struct room room = {.whose = "the switch",
                              .bytes = jobs->bytes_max,
                              .held = jobs->bytes + kept,
                              .slots = jobs->quota.slots,
                              .bytes_a_job = jobs->quota.bytes_a_job,
                              .tenants = jobs->quota.tenants,
                              .tenant = jobs->quota.tenant,
                              .jobs = n,
                              .job = running};

    return room_for(&room, asked, text);
}

bool jobs_have_room(const struct jobs *jobs, const struct jobs_plan *plan, const struct agg_footprint *f,
                    char text[AGG_TEXT_MAX])
{
    const struct room_job asked = {.name = plan->name,
                                   .tenant = plan->tenant,
                                   .founder = plan->founder,
                                   .slots = f->slots,
                                   .bytes = f->bytes};

    return jobs_have_room_for(jobs, &asked, text);
}

/* Of all members, since the job began. */
static struct job_rate counts_of(const struct switch_job *job)
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

static void note_rate(struct switch_job *job, uint64_t ns)
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
    for (unsigned i = 0; i < EVERY_JOB; i++) {
        struct switch_job *job = running_job(jobs, i);

        if (job != NULL)
            note_rate(job, ns);
    }
}
