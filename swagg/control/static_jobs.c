#include "control/static_jobs.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_byteorder.h>

#include "aggregate/jobs_share.h"
#include "base/counter.h"
#include "base/log.h"
#include "monotonic.h"
#include "protocols.h"
#include "registry/registry_added.h"

#define ALONE_NS      NS_PER_SECOND
#define TELL_EVERY_NS (60 * NS_PER_SECOND) /* so that no worker can fill the log */

static struct jobs_member seat_of(const struct config_member *c)
{
    struct jobs_member m = {
        .port = JOBS_PORT_UNKNOWN, .udp_port = c->port, .ip = c->ip, .hears_from = c->hears_from};

    memcpy(m.mac.addr_bytes, c->mac, sizeof(m.mac.addr_bytes));
    return m;
}

/* Job i of the configuration, with terms as it has them, which nobody negotiates. */
static void describe(struct static_job *job, const struct config *cfg, unsigned i)
{
    const struct config_job c = config_job(cfg, i);

    if (c.is_replay)
        snprintf(job->name, sizeof(job->name), "%s[%u]", c.name, c.place);
    else
        snprintf(job->name, sizeof(job->name), "%s", c.name);
    job->list = c.list;
    job->quiet_ns = c.quiet_ms * NS_PER_MS;
    job->plan = (struct jobs_plan){.protocol = agg_protocol_find(c.terms->protocol),
                                   .terms = *c.terms,
                                   .particulars = c.particulars,
                                   .as_it_is = true,
                                   .is_static = !c.is_replay,
                                   .without_udp_sum = c.without_udp_sum,
                                   .threads = (uint8_t)c.threads,
                                   .heard_from = rte_cpu_to_be_16(c.heard_from),
                                   .size = (uint16_t)c.members,
                                   .network = c.network,
                                   .tenant = c.tenant};
    for (int n = 0; n < JOBS_MAX && c.number >= 0; n++)
        if (n != c.number)
            job->plan.unusable[n / 64] |= RTE_BIT64(n % 64);
    for (unsigned rank = 0; rank < c.members; rank++) {
        const struct config_member m = config_job_member(cfg, &c, rank);

        job->plan.member[rank] = seat_of(&m);
    }
}

/* The switch in the network that the job is in. */
static struct jobs_identity identity(const struct static_jobs *s, const struct static_job *job,
                                     const struct config *cfg)
{
    struct jobs_identity here = s->us;

    if (cfg->vlans > 0)
        here.ip = cfg->vlan[job->plan.network].ip;
    return here;
}

/* cfg: where it is described. */
static int open_job(struct static_jobs *s, struct static_job *job, const struct config *cfg, uint64_t now)
{
    const struct jobs_identity here = identity(s, job, cfg);
    char why[AGG_TEXT_MAX];
    struct agg_footprint f;
    int rc;

    job->since = job->heard_at = now;
    snprintf(job->plan.name, sizeof(job->plan.name), "%s", job->name);
    rc = jobs_open(s->jobs, &job->plan, &here, &job->number, why);
    if (rc < 0)
        return log_fail(rc, "%s: %s", job->name, why);
    job->plan.protocol->footprint(&jobs_find(s->jobs, job->plan.protocol->id, job->number)->made_of, &f);
    log_notice("job %u is %s: %u members, %u slots, packets of %u bytes; nobody joins it", job->number,
               job->name, job->plan.size, f.slots, f.payload_bytes);
    return 0;
}

static void close_job(struct static_jobs *s, const struct static_job *job)
{
    jobs_close(s->jobs, job->plan.protocol->id, job->number);
}

int static_jobs_open(struct static_jobs *s, const struct config *cfg, uint64_t now)
{
    int rc = 0;

    s->now = now;
    s->job = calloc(config_jobs(cfg) + 1, sizeof(*s->job));
    if (s->job == NULL)
        return -ENOMEM;
    for (; s->n < config_jobs(cfg) && rc == 0; s->n++) {
        describe(&s->job[s->n], cfg, s->n);
        rc = open_job(s, &s->job[s->n], cfg, now);
    }
    return rc;
}

void static_jobs_close(struct static_jobs *s)
{
    free(s->job);
    s->job = NULL;
    s->n = 0;
}

/* Another configuration */

/* The place of job n until now; -1: it is new, or another than it was. Jobs that the configuration names may
 * stand in another order. */
static int place_until_now(const struct config *running, const struct config *cfg, unsigned n)
{
    const struct config_job job = config_job(cfg, n);
    const int was = job.is_named ? config_find(running, job.list, job.name) : (int)job.place;

    if (was < 0 ||
        (job.may_change && settings_item_differs(config_settings(running), job.list, running, (unsigned)was,
                                                 cfg, job.place, SETTING_WHEN_QUIET)))
        return -1;
    return (int)config_job_number(running, job.list, (unsigned)was);
}

int static_jobs_check_senders(struct registry_host *h, const struct static_jobs_change *change)
{
    int rc = 0;

    for (unsigned i = 0; i < change->next->static_jobs && rc == 0; i++)
        if (place_until_now(change->running, change->next, config_job_number(change->next, "static", i)) < 0)
            rc = registry_check_senders(h, &change->next->static_job[i]);
    return rc;
}

/* Jobs that are gone or others must be quiet, so that nothing is cut off in its midst. */
static int check_quiet(const struct static_jobs *s, const struct static_jobs_next *next)
{
    for (unsigned n = 0; n < s->n; n++)
        if (!next->stays[n] && s->job[n].worked)
            return log_fail(-EBUSY,
                            "%s[%s]: the job is at work, and can be changed or taken out only while it is "
                            "quiet: leave it alone for %" PRIu64 " ms, its quiet_ms, or have it start over "
                            "(swaggctl job reset)",
                            s->job[n].list, s->job[n].name, s->job[n].quiet_ns / NS_PER_MS);
    return 0;
}

/* The number that a tenant of the next configuration has until the change; -1: it has none. */
static int tenant_until_now(const struct config *running, const int tenant[], int next)
{
    for (unsigned t = 0; t < running->tenants; t++)
        if (next >= 0 && tenant[t] == next)
            return (int)t;
    return -1;
}

/* From now on jobs are held to what they may hold by the next configuration, with its tenants under their
 * numbers until now. */
static void limit_to_next(struct static_jobs *s, const struct static_jobs_change *change,
                          struct config *limits)
{
    const struct config *running = change->running, *next = change->next;

    *limits = *next;
    limits->tenants = running->tenants;
    limits->leaving = running->leaving;
    for (unsigned t = 0; t < running->tenants + running->leaving; t++)
        limits->tenant[t] = change->tenant[t] >= 0 ? next->tenant[change->tenant[t]] : running->tenant[t];
    jobs_limit(s->jobs, limits);
}

/* Those that stay are copied when all has succeeded: until then they go on changing. */
static int make_next(struct static_jobs *s, struct static_jobs_next *next,
                     const struct static_jobs_change *change)
{
    int rc = check_quiet(s, next);

    for (; next->n < config_jobs(change->next) && rc == 0; next->n++) {
        struct static_job *job = &next->job[next->n];

        if (next->was[next->n] >= 0)
            continue;
        describe(job, change->next, next->n);
        job->plan.tenant = tenant_until_now(change->running, change->tenant, job->plan.tenant);
        rc = open_job(s, job, change->next, s->now);
        if (rc < 0)
            break;
    }
    return rc;
}

int static_jobs_prepare(struct static_jobs *s, const struct static_jobs_change *change,
                        struct static_jobs_next *next)
{
    const unsigned jobs = config_jobs(change->next);
    struct config *limits = malloc(sizeof(*limits));
    int rc;

    *next = (struct static_jobs_next){.job = calloc(jobs + 1, sizeof(*next->job))};
    if (next->job == NULL || limits == NULL) {
        free(next->job);
        free(limits);
        return -ENOMEM;
    }
    for (unsigned n = 0; n < jobs; n++) {
        next->was[n] = place_until_now(change->running, change->next, n);
        if (next->was[n] >= 0)
            next->stays[next->was[n]] = true;
    }
    limit_to_next(s, change, limits);
    rc = make_next(s, next, change);
    jobs_limit(s->jobs, change->running);
    free(limits);
    if (rc < 0)
        static_jobs_forget(s, next);
    return rc;
}

/* What may be different of a job that stays: how long it is quiet, and the number of its tenant, which that
 * of a new one has now, too. */
static void follow(struct static_jobs *s, struct static_job *job, const struct config *cfg, unsigned n)
{
    struct static_job is = {0};

    describe(&is, cfg, n);
    job->plan.tenant = is.plan.tenant;
    job->quiet_ns = is.quiet_ns;
    jobs_set_tenant(s->jobs, job->plan.protocol->id, job->number, job->plan.tenant);
}

void static_jobs_commit(struct static_jobs *s, struct static_jobs_next *next, const struct config *cfg)
{
    for (unsigned n = 0; n < s->n; n++)
        if (!next->stays[n])
            close_job(s, &s->job[n]);
    for (unsigned n = 0; n < next->n; n++) {
        if (next->was[n] >= 0)
            next->job[n] = s->job[next->was[n]];
        follow(s, &next->job[n], cfg, n);
    }
    free(s->job);
    s->job = next->job;
    s->n = next->n;
}

void static_jobs_forget(struct static_jobs *s, struct static_jobs_next *next)
{
    for (unsigned n = 0; n < next->n; n++)
        if (next->was[n] < 0)
            close_job(s, &next->job[n]);
    free(next->job);
    *next = (struct static_jobs_next){0};
}

static void note_start_over(struct static_job *job, uint64_t now)
{
    job->worked = false;
    counter_add(&job->runs, 1);
    counter_set(&job->since, now);
}

static bool renew(struct static_jobs *s, const struct static_job *job, bool unless_heard)
{
    bool renewed;

    pthread_mutex_lock(s->shown);
    renewed = jobs_renew(s->jobs, job->plan.protocol->id, job->number, unless_heard);
    pthread_mutex_unlock(s->shown);
    return renewed;
}

void static_jobs_reset(struct static_jobs *s, const struct static_job *job)
{
    renew(s, job, false);
    note_start_over(&s->job[job - s->job], counter_read(&s->now));
    log_notice("job %s: its slots start over, as the operator wishes", job->name);
}

static void note_heard(struct static_job *job, uint64_t now)
{
    job->worked = true;
    counter_set(&job->heard_at, now);
}

/* A new run may begin in this very moment. */
static void start_over_unless_heard(struct static_jobs *s, struct static_job *job, uint64_t now)
{
    if (!renew(s, job, true)) {
        note_heard(job, now);
        return;
    }
    note_start_over(job, now);
    log_notice("job %s: nothing was heard for %" PRIu64 " ms: its slots start over", job->name,
               job->quiet_ns / NS_PER_MS);
}

static void say_amiss(const struct static_job *job, const struct job_amiss *a, uint64_t news)
{
    const struct jobs_member *m = &job->plan.member[a->rank];
    const struct agg_reason *reason = &job->plan.protocol->reason[a->reason];
    const uint8_t *ip = (const uint8_t *)&m->ip;

    log_warning(
        "job %s: %" PRIu64 " packets of its workers are in no sum, the last one of worker %u (%u.%u.%u.%u), "
        "thread %u: %s: %s",
        job->name, news, a->rank, ip[0], ip[1], ip[2], ip[3], a->thread, reason->name, reason->meaning);
}

/* Whether the job was heard not long ago, so that packets which may just be late mean nothing. Of jobs that
 * never start over that is not known. */
static bool may_be_late(const struct static_job *job, uint64_t now)
{
    return job->quiet_ns == 0 || now - job->heard_at < RTE_MIN(ALONE_NS, job->quiet_ns / 2);
}

/* Tells of packets whose senders wait in vain. */
static void tell_amiss(struct static_job *job, const struct switch_job *running, uint64_t now)
{
    for (enum agg_amiss kind = AGG_AMISS_ALONE; kind <= AGG_AMISSES; kind++) {
        const struct job_amiss a = jobs_amiss(running, kind);
        uint64_t *known = &job->known[kind - 1];

        if (kind == AGG_AMISS_ALONE && may_be_late(job, now))
            *known = a.n;
        if (a.n == *known || (job->told_at > 0 && now - job->told_at < TELL_EVERY_NS))
            continue;
        say_amiss(job, &a, a.n - *known);
        *known = a.n;
        job->told_at = now;
    }
}

void static_jobs_tick(struct static_jobs *s, uint64_t now)
{
    for (struct static_job *job = s->job; job < s->job + s->n; job++) {
        const struct switch_job *running = jobs_find(s->jobs, job->plan.protocol->id, job->number);

        if (job->plan.protocol->heard(running->common.pool))
            note_heard(job, now);
        tell_amiss(job, running, now);
        if (job->quiet_ns > 0 && job->worked && now - job->heard_at >= job->quiet_ns)
            start_over_unless_heard(s, job, now);
    }
    counter_set(&s->now, now);
}
