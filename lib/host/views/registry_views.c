#include "views/registry_views.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "views/arrivals.h"
#include "views/declared.h"

enum fit { FITS_NOT, FITS_BY_NAME, FITS_WHOLLY };

static void call_of(const struct registry_shown *s, const struct ctl_entry *job, char call[REGISTRY_CALL_MAX])
{
    snprintf(call, REGISTRY_CALL_MAX, "%s/%s", s->tenants[job->tenant].name, job->name);
}

static enum fit fit_of(const struct registry_shown *s, const struct ctl_entry *job, const char *called)
{
    char call[REGISTRY_CALL_MAX];

    if (job->state == CTL_ENTRY_FREE)
        return FITS_NOT;
    if (s->tenants != NULL) {
        call_of(s, job, call);
        if (strcmp(call, called) == 0)
            return FITS_WHOLLY;
    }
    return strcmp(job->name, called) == 0 ? FITS_BY_NAME : FITS_NOT;
}

int registry_find(const struct registry_shown *s, const char *called, const struct ctl_entry **found)
{
    enum fit best = FITS_NOT;
    bool several = false;

    for (unsigned i = 0; i < s->entries; i++) {
        const struct ctl_entry *job = ctl_registry_entry(s->registry, i);
        const enum fit fit = fit_of(s, job, called);

        if (fit == FITS_NOT || fit < best)
            continue;
        several = fit == best && (several || job->tenant != (*found)->tenant);
        if (fit > best || !ctl_entry_is_live(*found))
            *found = job;
        best = fit;
    }
    return several ? -ENOTUNIQ : best == FITS_NOT ? -ENOENT : 0;
}

void registry_calls(const struct registry_shown *s, const char *name,
                    void (*visit)(void *context, const char *call), void *context)
{
    char call[REGISTRY_CALL_MAX];

    for (unsigned i = 0; i < s->entries; i++) {
        const struct ctl_entry *job = ctl_registry_entry(s->registry, i);

        if (job->state == CTL_ENTRY_FREE || ctl_registry_is_superseded(s->registry, i) ||
            strcmp(job->name, name) != 0)
            continue;
        call_of(s, job, call);
        visit(context, call);
    }
}

static const char *tenant_of(const struct registry_shown *s, const struct ctl_entry *job)
{
    return s->tenants == NULL ? NULL : s->tenants[job->tenant].name;
}

static uint64_t ms_since(const struct registry_shown *s, uint64_t at)
{
    return (s->now - at) / 1000000;
}

void registry_show_jobs(const struct registry_shown *s, struct view_out *out)
{
    for (unsigned i = 0; i < s->entries; i++) {
        const struct ctl_entry *job = ctl_registry_entry(s->registry, i);
        struct jobs_view row;

        if (job->state == CTL_ENTRY_FREE || ctl_registry_is_superseded(s->registry, i))
            continue;
        row = (struct jobs_view){.name = job->name,
                                 .state = ctl_entry_state_name(job->state),
                                 .in_state_ms = ms_since(s, job->since),
                                 .size = job->size,
                                 .present = job->present,
                                 .protocol = job->protocol->name,
                                 .tenant = tenant_of(s, job)};
        view_row(out, &row);
    }
}

static struct view_ranks missing_of(const struct ctl_entry *job)
{
    const struct ctl_ranks missing = ctl_entry_missing(job);
    struct view_ranks ranks = {0};

    memcpy(ranks.set, missing.word, sizeof(missing.word));
    return ranks;
}

void registry_show_job(const struct registry_shown *s, const struct ctl_entry *job,
                       const struct agg_job *running, struct view_out *out)
{
    struct job_view shown = {.name = job->name,
                             .tenant = tenant_of(s, job),
                             .state = ctl_entry_state_name(job->state),
                             .joined = true,
                             .in_state_ms = ms_since(s, job->since),
                             .epoch = job->epoch,
                             .size = job->size,
                             .present = job->present,
                             .keyed = job->keyed,
                             .draining = job->draining,
                             .terms = {job->protocol, &job->terms},
                             .runs = job->state == CTL_ENTRY_RUNNING,
                             .number = job->number,
                             .failed = job->state == CTL_ENTRY_FAILED,
                             .reason = ctl_reason_name(job->failure.reason),
                             .failure = job->failure.text,
                             .missing = missing_of(job),
                             .awaits = running != NULL,
                             .waits_for = arrivals_awaited(running, job->size)};

    arrivals_of_job(&shown, running, false, job->size);
    view_fields(out, &shown);
}

void registry_show_ranks(const struct registry_shown *s, const struct ctl_entry *job,
                         const struct agg_job *running, struct view_out *out)
{
    const struct of_job_view shown = {.name = job->name, .joined = true, .missing = missing_of(job)};

    for (uint16_t rank = 0; rank < job->size; rank++) {
        const struct ctl_member *m = &job->members[rank];
        struct rank_view row = {.rank = rank,
                                .joined = true,
                                .state = ctl_member_state_name(m->state),
                                .heard_ms_ago = m->state == CTL_MEMBER_ABSENT ? 0 : ms_since(s, m->heard_at),
                                .calls = m->heartbeat.calls,
                                .waiting = m->heartbeat.waiting,
                                .stalled_ms = m->heartbeat.stalled_ms,
                                .retransmitted = m->heartbeat.retransmitted,
                                .window = m->heartbeat.window,
                                .restarts = job->restarts + m->restarts,
                                .resumed = m->heartbeat.resumed};

        view_address(row.address, m->endpoint.ip, m->data_port, 1);
        arrivals_of_rank(&row, running, false, rank);
        view_row(out, &row);
    }
    view_fields(out, &shown);
}
