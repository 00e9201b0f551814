/* Views of jobs, those that are joined and those of the configuration. */
#include "views.h"

struct registry_shown shown_registry(const struct shown *s)
{
    return registry_host_shown(&s->membership->common);
}

/* Whether all of its workers have been heard, so that the chip has it. */
static bool runs(const struct config_static *job, const json_t *found)
{
    return json_is_true(json_object_get(json_object_get(found, "static"), job->name));
}

static const char *state_of(const struct config_static *job, const json_t *found)
{
    return ctl_entry_state_name(runs(job, found) ? CTL_ENTRY_RUNNING : CTL_ENTRY_FORMING);
}

static const char *tenant_of(const struct shown *s, int tenant)
{
    return tenant < 0 ? "" : s->cfg->tenant[tenant].name;
}

void view_jobs(const struct shown *s, const struct subject *of, const json_t *found, struct writer *w)
{
    const struct registry_shown joined = shown_registry(s);

    (void)of;
    writer_table(w, "jobs");
    registry_write_jobs(&joined, w);
    for (unsigned i = 0; i < s->cfg->static_jobs; i++) {
        const struct config_static *job = &s->cfg->static_job[i];

        writer_row(w);
        writer_text(w, "name", job->name);
        writer_text(w, "state", state_of(job, found));
        writer_number(w, "in_state_ms", 0);
        writer_number(w, "size", job->workers);
        writer_number(w, "present", runs(job, found) ? job->workers : 0);
        writer_text(w, "protocol", "switchml");
        writer_text(w, "tenant", tenant_of(s, job->tenant));
        writer_end(w);
    }
    writer_end(w);
}

static void write_static(const struct shown *s, const struct config_static *job, const json_t *found,
                         struct writer *w)
{
    writer_text(w, "name", job->name);
    writer_text(w, "tenant", tenant_of(s, job->tenant));
    writer_text(w, "state", state_of(job, found));
    writer_number(w, "size", job->workers);
    writer_number(w, "threads", job->threads);
    writer_number(w, "slots", (uint64_t)job->threads * job->slots);
    writer_number(w, "elements", job->elements);
}

void view_job(const struct shown *s, const struct subject *of, const json_t *found, struct writer *w)
{
    const struct registry_shown joined = shown_registry(s);

    if (of->fixed != NULL)
        write_static(s, of->fixed, found, w);
    else
        registry_write_job(&joined, of->job, w);
}

static void write_static_ranks(const struct config_static *job, struct writer *w)
{
    writer_text(w, "name", job->name);
    writer_table(w, "ranks");
    for (unsigned rank = 0; rank < job->workers; rank++) {
        const struct config_peer *worker = &job->worker[rank];
        const uint8_t *ip = (const uint8_t *)&worker->ip;

        writer_row(w);
        writer_number(w, "rank", rank);
        writer_format(w, "address", "%u.%u.%u.%u:%u-%u", ip[0], ip[1], ip[2], ip[3], worker->port,
                      worker->port + job->threads - 1);
        writer_end(w);
    }
    writer_end(w);
}

void view_ranks(const struct shown *s, const struct subject *of, const json_t *found, struct writer *w)
{
    const struct registry_shown joined = shown_registry(s);

    (void)found;
    if (of->fixed != NULL)
        write_static_ranks(of->fixed, w);
    else
        registry_write_ranks(&joined, of->job, w);
}

static void write_waiting(const json_t *slot, struct writer *w)
{
    const json_t *rank;
    size_t i;

    writer_row(w);
    writer_number(w, "slot", (uint64_t)json_integer_value(json_object_get(slot, "slot")));
    writer_number(w, "tag", (uint64_t)json_integer_value(json_object_get(slot, "tag")));
    writer_number(w, "contributed", (uint64_t)json_integer_value(json_object_get(slot, "contributed")));
    writer_numbers(w, "missing");
    json_array_foreach(json_object_get(slot, "missing"), i, rank)
        writer_number(w, NULL, (uint64_t)json_integer_value(rank));
    writer_end(w);
    writer_end(w);
}

void view_slots(const struct shown *s, const struct subject *of, const json_t *found, struct writer *w)
{
    const json_t *slot;
    size_t i;

    (void)s;
    writer_text(w, "name", of->name);
    writer_table(w, "waiting");
    json_array_foreach(json_object_get(found, "waiting"), i, slot) write_waiting(slot, w);
    writer_end(w);
    writer_number(w, "slots", (uint64_t)json_integer_value(json_object_get(found, "slots")));
    writer_number(w, "collecting", (uint64_t)json_integer_value(json_object_get(found, "collecting")));
}

/* Jobs that are over count as long as the registry remembers them, as they do for the quota. */
static unsigned jobs_of(const struct shown *s, unsigned tenant)
{
    const struct registry_shown joined = shown_registry(s);
    unsigned jobs = 0;

    for (unsigned i = 0; i < joined.entries; i++) {
        const struct ctl_entry *job = ctl_registry_entry(joined.registry, i);

        jobs += job->state != CTL_ENTRY_FREE && job->tenant == (int)tenant;
    }
    for (unsigned i = 0; i < s->cfg->static_jobs; i++)
        jobs += s->cfg->static_job[i].tenant == (int)tenant;
    return jobs;
}

void view_tenants(const struct shown *s, const struct subject *of, const json_t *found, struct writer *w)
{
    (void)of;
    (void)found;
    writer_table(w, "tenants");
    for (unsigned i = 0; i < s->cfg->tenants; i++) {
        writer_row(w);
        writer_text(w, "name", s->cfg->tenant[i].name);
        writer_number(w, "jobs", jobs_of(s, i));
        writer_number(w, "jobs_quota", s->cfg->tenant[i].quota.jobs);
        writer_end(w);
    }
    writer_end(w);
}
