#include "aggregate/jobs_room.h"

#include <stdio.h>

#include "share/quota.h"

enum { QUOTAS_MAX = 8, EVERY_JOB = COUNTED_PROTOCOLS * JOBS_MAX };

/* The jobs that a quota counts; 0 and -1: whoever founded it, whosever it is. */
struct scope {
    uint32_t founder;
    int tenant;
    bool none; /* only what is asked for now */
};

struct quotas {
    unsigned n;
    struct share_quota quota[QUOTAS_MAX];
    struct scope scope[QUOTAS_MAX];
};

static const struct job *job_in(const struct jobs *jobs, const struct scope *s, unsigned i)
{
    const struct job *job = jobs_find(jobs, i / JOBS_MAX, i % JOBS_MAX);

    if (job == NULL || s->none || (s->founder != 0 && job->founder != s->founder) ||
        (s->tenant >= 0 && job->tenant != s->tenant))
        return NULL;
    return job;
}

static uint64_t holds(const struct job *job, enum share_kind kind)
{
    return kind == SHARE_SLOTS ? job->slots : job->bytes;
}

static uint64_t held_in(const struct jobs *jobs, const struct scope *s, enum share_kind kind)
{
    uint64_t sum = 0;

    for (unsigned i = 0; i < EVERY_JOB; i++) {
        const struct job *job = job_in(jobs, s, i);

        sum += job == NULL ? 0 : holds(job, kind);
    }
    return sum;
}

/* Adds a quota, whose key and whose fields the caller then writes. */
static struct share_quota *add(struct quotas *q, const struct jobs *jobs, const struct scope *s,
                               enum share_kind kind, uint64_t max)
{
    struct share_quota *quota = &q->quota[q->n];

    q->scope[q->n++] = *s;
    *quota = (struct share_quota){.kind = kind, .max = max};
    if (max != 0)
        quota->held = held_in(jobs, s, kind);
    return quota;
}

static void add_of_switch(struct quotas *q, const struct jobs *jobs)
{
    static const struct scope all = {.tenant = -1}, none = {.tenant = -1, .none = true};
    struct share_quota *quota = add(q, jobs, &all, SHARE_BYTES, jobs->bytes_max);

    quota->max = RTE_MAX(jobs->bytes_max, (size_t)1); /* nothing at all is a quota, too */
    quota->held = jobs->bytes;                        /* with those still to be freed */
    snprintf(quota->key, SHARE_WORDS_MAX, "pool.megabytes");
    snprintf(quota->whose, SHARE_WORDS_MAX, "the switch");
    quota = add(q, jobs, &all, SHARE_SLOTS, jobs->quota.slots);
    snprintf(quota->key, SHARE_WORDS_MAX, "pool.slots");
    snprintf(quota->whose, SHARE_WORDS_MAX, "the switch");
    quota = add(q, jobs, &none, SHARE_BYTES, jobs->quota.bytes_a_job);
    snprintf(quota->key, SHARE_WORDS_MAX, "pool.megabytes_per_job");
    snprintf(quota->whose, SHARE_WORDS_MAX, "a job");
}

static void add_of_tenant(struct quotas *q, const struct jobs *jobs, const struct jobs_plan *plan)
{
    const struct scope its = {.tenant = plan->tenant};
    const struct config_tenant *t;
    struct share_quota *quota;

    if (plan->tenant < 0 || (unsigned)plan->tenant >= jobs->quota.tenants)
        return;
    t = &jobs->quota.tenant[plan->tenant];
    quota = add(q, jobs, &its, SHARE_BYTES, (uint64_t)t->quota.megabytes << 20);
    snprintf(quota->key, SHARE_WORDS_MAX, "tenants[%d].quota.megabytes", plan->tenant);
    snprintf(quota->whose, SHARE_WORDS_MAX, "tenant %s", t->name);
    quota = add(q, jobs, &its, SHARE_SLOTS, t->quota.slots);
    snprintf(quota->key, SHARE_WORDS_MAX, "tenants[%d].quota.slots", plan->tenant);
    snprintf(quota->whose, SHARE_WORDS_MAX, "tenant %s", t->name);
}

/* A new job leaves a quarter of the whole to jobs that were founded from other addresses. */
static void add_of_founder(struct quotas *q, const struct jobs *jobs, const struct jobs_plan *plan)
{
    const uint8_t *ip = (const uint8_t *)&plan->founder;
    const struct scope its = {.founder = plan->founder, .tenant = -1};
    struct share_quota *quota;

    if (plan->as_it_is || plan->founder == 0)
        return;
    quota = add(q, jobs, &its, SHARE_BYTES, jobs->bytes_max - jobs->bytes_max / 4);
    snprintf(quota->key, SHARE_WORDS_MAX, "3/4 of pool.megabytes");
    snprintf(quota->whose, SHARE_WORDS_MAX, "one host, %u.%u.%u.%u,", ip[0], ip[1], ip[2], ip[3]);
}

/* The one that has no room; NULL: all have. */
static const struct share_quota *exceeded(const struct jobs *jobs, const struct jobs_plan *plan,
                                          const struct agg_footprint *f, struct quotas *q)
{
    const uint64_t asked[SHARE_KINDS] = {[SHARE_SLOTS] = f->slots, [SHARE_BYTES] = f->bytes};

    q->n = 0;
    add_of_switch(q, jobs);
    add_of_tenant(q, jobs, plan);
    add_of_founder(q, jobs, plan);
    return share_exceeded(q->quota, q->n, asked);
}

bool jobs_have_room(const struct jobs *jobs, const struct jobs_plan *plan, const struct agg_footprint *f)
{
    struct quotas q;

    return exceeded(jobs, plan, f, &q) == NULL;
}

bool jobs_say_no_room(const struct jobs *jobs, const struct jobs_plan *plan, const struct agg_footprint *f,
                      char text[AGG_TEXT_MAX])
{
    struct quotas q;
    const struct share_quota *lacking = exceeded(jobs, plan, f, &q);
    struct share_holder holder[EVERY_JOB];
    unsigned n = 0;

    if (lacking == NULL)
        return false;
    for (unsigned i = 0; i < EVERY_JOB; i++) {
        const struct job *job = job_in(jobs, &q.scope[lacking - q.quota], i);

        if (job != NULL)
            holder[n++] = (struct share_holder){.name = job->name, .held = holds(job, lacking->kind)};
    }
    share_refusal(text, AGG_TEXT_MAX, lacking, lacking->kind == SHARE_SLOTS ? f->slots : f->bytes, holder, n);
    return true;
}
