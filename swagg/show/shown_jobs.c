#include "show/shown_jobs.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/counter.h"
#include "monotonic.h"

struct visit {
    shown_job_visitor *visitor;
    void *context;
    const char *called; /* of those that this may call; NULL: of all */
    size_t called_bytes;
};

/* Whether a job of this name may be meant, of whatever tenant. Cheap, for every job is asked when one is
 * looked for. */
static bool may_be_called(const struct visit *v, const char *name)
{
    const size_t n = v->called == NULL ? 0 : strlen(name);

    return n <= v->called_bytes && (n == 0 || memcmp(v->called + v->called_bytes - n, name, n) == 0);
}

static void visit_joined(void *context, const struct registry_job *found)
{
    const struct ctl_entry *job = found->entry;
    const struct visit *v = context;
    struct shown_job shown;

    if (!may_be_called(v, job->name))
        return;
    shown = (struct shown_job){
        .name = job->name,
        .tenant = job->tenant,
        .network = job->network,
        .state = job->state,
        .now = found->now,
        .since = job->since,
        .epoch = job->epoch,
        .size = job->size,
        .present = job->present,
        .number = job->number,
        .protocol = job->protocol,
        .terms = job->terms,
        .failure = &job->failure,
        .joined = job,
        .relayed = found->relayed,
    };
    v->visitor(v->context, &shown);
}

static void visit_static(const struct visit *v, const struct static_job *job, uint64_t now)
{
    const struct shown_job shown = {
        .name = job->name,
        .tenant = job->plan.tenant,
        .network = job->plan.network,
        .state = CTL_ENTRY_RUNNING,
        .now = now,
        .since = counter_read(&job->since),
        .epoch = (uint32_t)counter_read(&job->runs),
        .size = job->plan.size,
        .present = job->plan.size,
        .number = job->number,
        .protocol = job->plan.protocol,
        .terms = job->plan.terms,
        .fixed = job,
    };

    v->visitor(v->context, &shown);
}

static void visit_all(const struct show_parts *parts, struct visit *visit)
{
    registry_host_visit(&parts->registrar->common, visit_joined, visit);
    for (unsigned i = 0; i < parts->static_jobs->n; i++)
        visit_static(visit, &parts->static_jobs->job[i], counter_read(&parts->static_jobs->now));
}

void shown_jobs_visit(const struct show_parts *parts, shown_job_visitor *visitor, void *context)
{
    visit_all(parts, &(struct visit){.visitor = visitor, .context = context});
}

const struct switch_job *shown_job_running(const struct show_parts *parts, const struct shown_job *job)
{
    return job->state == CTL_ENTRY_RUNNING ? jobs_find(parts->jobs, job->protocol->id, job->number) : NULL;
}

unsigned shown_job_level(const struct shown_job *job)
{
    return job->relayed == NULL ? 1 : job->relayed->above.levels + 2u;
}

bool shown_job_is_here(const struct shown_job *job, uint16_t rank)
{
    return job->relayed == NULL || ctl_ranks_has(&job->relayed->bundle, rank);
}

struct shown_member shown_job_member(const struct shown_job *job, uint16_t rank)
{
    const struct jobs_member *member;
    struct agg_sender by_mac;

    if (!shown_job_is_here(job, rank))
        return (struct shown_member){.above = true, .threads = 1};
    if (job->joined != NULL) {
        const struct ctl_member *m = &job->joined->members[rank];

        return (struct shown_member){
            .state = m->state,
            .ip = m->hops > 0 ? m->host : m->endpoint.ip,
            .level = (uint8_t)(shown_job_level(job) + m->hops),
            .via = m->hops > 0 ? m->via : 0,
            .data_port = m->data_port,
            .threads = 1,
            .heard_ms_ago = m->state == CTL_MEMBER_ABSENT ? 0 : (job->now - m->heard_at) / NS_PER_MS,
            .restarts = job->joined->restarts + m->restarts,
            .heartbeat = m->heartbeat};
    }
    member = &job->fixed->plan.member[rank];
    by_mac = agg_sender_of_mac(member->mac.addr_bytes);
    return (struct shown_member){
        .state = CTL_MEMBER_JOINED,
        .ip = member->ip,
        .data_port = rte_be_to_cpu_16(member->udp_port),
        .mac = job->protocol->frames && member->ip == by_mac.ip ? &member->mac : NULL,
        .threads = RTE_MAX(job->fixed->plan.threads, 1),
        .level = 1,
        .heard_ms_ago = (job->now - counter_read(&job->fixed->heard_at)) / NS_PER_MS};
}

const char *shown_job_tenant(const struct show_parts *parts, int tenant)
{
    const struct jobs_quota *quota = &parts->jobs->quota;

    return tenant >= 0 && (unsigned)tenant < quota->tenants ? quota->tenant[tenant].name : "";
}

void shown_job_call(const struct show_parts *parts, int tenant, const char *name,
                    char call[SHOWN_JOB_CALL_MAX])
{
    snprintf(call, SHOWN_JOB_CALL_MAX, "%s/%s", shown_job_tenant(parts, tenant), name);
}

/* How well a job answers to a call. */
enum fit { FITS_NOT, FITS_BY_NAME, FITS_WHOLLY };

static enum fit fit_of(const struct show_parts *parts, const struct shown_job *job, const char *called)
{
    const char *tenant = shown_job_tenant(parts, job->tenant);
    const size_t n = strlen(tenant);

    if (strncmp(called, tenant, n) == 0 && called[n] == '/' && strcmp(called + n + 1, job->name) == 0)
        return FITS_WHOLLY;
    return strcmp(job->name, called) == 0 ? FITS_BY_NAME : FITS_NOT;
}

/* Who answers best; then that one is visited. */
struct search {
    const struct show_parts *parts;
    const char *called;
    enum fit fit;
    int tenant;   /* of the first that fits so well */
    bool several; /* another tenant's does, too */
    bool visited;
    struct visit visit;
};

static void look_at(void *context, const struct shown_job *job)
{
    struct search *s = context;
    const enum fit fit = fit_of(s->parts, job, s->called);

    if (fit == FITS_NOT || fit < s->fit)
        return;
    if (fit > s->fit) {
        s->tenant = job->tenant;
        s->several = false;
    }
    s->several |= job->tenant != s->tenant;
    s->fit = fit;
}

static void visit_found(void *context, const struct shown_job *job)
{
    struct search *s = context;

    if (s->visited || job->tenant != s->tenant || fit_of(s->parts, job, s->called) != s->fit)
        return;
    s->visited = true;
    s->visit.visitor(s->visit.context, job);
}

int shown_jobs_find(const struct show_parts *parts, const char *called, shown_job_visitor *visit,
                    void *context)
{
    struct search s = {.parts = parts, .called = called, .visit = {.visitor = visit, .context = context}};
    struct visit looking = {look_at, &s, called, strlen(called)},
                 finding = {visit_found, &s, called, strlen(called)};

    visit_all(parts, &looking);
    if (s.several)
        return -ENOTUNIQ;
    if (s.fit != FITS_NOT)
        visit_all(parts, &finding);
    return s.visited ? 0 : -ENOENT; /* it may have ended in between */
}

static void show_found(void *context, const struct shown_job *job)
{
    const struct job_showing *s = context;

    s->show(s, job);
}

int shown_jobs_show(const struct show_parts *parts, const char *called, struct view_out *out,
                    void (*show)(const struct job_showing *s, const struct shown_job *job))
{
    struct job_showing s = {.parts = parts, .show = show, .out = out};

    return called == NULL ? -EINVAL : shown_jobs_find(parts, called, show_found, &s);
}
