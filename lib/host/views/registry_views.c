#include "views/registry_views.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "views/terms.h"

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

static void write_tenant(const struct registry_shown *s, const struct ctl_entry *job, struct writer *w)
{
    if (s->tenants != NULL)
        writer_text(w, "tenant", s->tenants[job->tenant].name);
}

void registry_write_jobs(const struct registry_shown *s, struct writer *w)
{
    for (unsigned i = 0; i < s->entries; i++) {
        const struct ctl_entry *job = ctl_registry_entry(s->registry, i);

        if (job->state == CTL_ENTRY_FREE || ctl_registry_is_superseded(s->registry, i))
            continue;
        writer_row(w);
        writer_text(w, "name", job->name);
        writer_text(w, "state", ctl_entry_state_name(job->state));
        writer_number(w, "in_state_ms", (s->now - job->since) / 1000000);
        writer_number(w, "size", job->size);
        writer_number(w, "present", job->present);
        writer_text(w, "protocol", job->protocol->name);
        write_tenant(s, job, w);
        writer_end(w);
    }
}

static void write_missing(struct writer *w, const struct ctl_entry *job)
{
    const struct ctl_ranks missing = ctl_entry_missing(job);

    writer_numbers(w, "missing");
    for (uint16_t rank = 0; rank < job->size; rank++)
        if (ctl_ranks_has(&missing, rank))
            writer_number(w, NULL, rank);
    writer_end(w);
}

void registry_write_job(const struct registry_shown *s, const struct ctl_entry *job, struct writer *w)
{
    writer_text(w, "name", job->name);
    write_tenant(s, job, w);
    writer_text(w, "state", ctl_entry_state_name(job->state));
    writer_number(w, "in_state_ms", (s->now - job->since) / 1000000);
    writer_number(w, "epoch", job->epoch);
    writer_number(w, "size", job->size);
    writer_number(w, "present", job->present);
    writer_flag(w, "keyed", job->keyed);
    writer_flag(w, "draining", job->draining);
    write_terms(w, job->protocol, &job->terms);
    if (job->state == CTL_ENTRY_RUNNING)
        writer_number(w, "number", job->number);
    if (job->state == CTL_ENTRY_FAILED) {
        writer_text(w, "reason", ctl_reason_name(job->failure.reason));
        writer_text(w, "failure", job->failure.text);
    }
    write_missing(w, job);
}

static void write_rank(const struct registry_shown *s, const struct ctl_entry *job, uint16_t rank,
                       struct writer *w)
{
    const struct ctl_member *m = &job->members[rank];
    const uint8_t *ip = (const uint8_t *)&m->endpoint.ip;

    writer_row(w);
    writer_number(w, "rank", rank);
    writer_text(w, "state", ctl_member_state_name(m->state));
    writer_format(w, "address", "%u.%u.%u.%u:%u", ip[0], ip[1], ip[2], ip[3], m->data_port);
    writer_number(w, "heard_ms_ago", m->state == CTL_MEMBER_ABSENT ? 0 : (s->now - m->heard_at) / 1000000);
    writer_counter(w, "calls", m->heartbeat.calls);
    writer_flag(w, "waiting", m->heartbeat.waiting);
    writer_number(w, "stalled_ms", m->heartbeat.stalled_ms);
    writer_counter(w, "retransmitted", m->heartbeat.retransmitted);
    writer_number(w, "window", m->heartbeat.window);
    writer_end(w);
}

void registry_write_ranks(const struct registry_shown *s, const struct ctl_entry *job, struct writer *w)
{
    writer_text(w, "name", job->name);
    write_missing(w, job);
    writer_table(w, "ranks");
    for (uint16_t rank = 0; rank < job->size; rank++)
        write_rank(s, job, rank, w);
    writer_end(w);
}
