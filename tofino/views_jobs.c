/* Views of jobs, those that are joined and those of the configuration. */
#include "views.h"

#include "protocol/ranks.h"

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

void view_jobs(const struct shown *s, const struct subject *of, const json_t *found, struct view_out *out)
{
    const struct registry_shown joined = shown_registry(s);

    (void)of;
    registry_show_jobs(&joined, out);
    for (unsigned i = 0; i < s->cfg->static_jobs; i++) {
        const struct config_static *job = &s->cfg->static_job[i];
        const struct jobs_view row = {.name = job->name,
                                      .state = state_of(job, found),
                                      .size = job->workers,
                                      .present = runs(job, found) ? job->workers : 0,
                                      .protocol = "switchml",
                                      .tenant = tenant_of(s, job->tenant)};

        view_row(out, &row);
    }
}

static void show_static(const struct shown *s, const struct config_static *job, const json_t *found,
                        struct view_out *out)
{
    const struct job_view shown = {.name = job->name,
                                   .tenant = tenant_of(s, job->tenant),
                                   .state = state_of(job, found),
                                   .size = job->workers,
                                   .fixed = true,
                                   .threads = job->threads,
                                   .slots = (uint64_t)job->threads * job->slots,
                                   .elements = job->elements};

    view_fields(out, &shown);
}

void view_job(const struct shown *s, const struct subject *of, const json_t *found, struct view_out *out)
{
    const struct registry_shown joined = shown_registry(s);

    if (of->fixed != NULL)
        show_static(s, of->fixed, found, out);
    else
        registry_show_job(&joined, of->job, out);
}

static void show_static_ranks(const struct config_static *job, struct view_out *out)
{
    const struct of_job_view shown = {.name = job->name};

    for (unsigned rank = 0; rank < job->workers; rank++) {
        struct rank_view row = {.rank = rank};

        view_address(row.address, job->worker[rank].ip, job->worker[rank].port, job->threads);
        view_row(out, &row);
    }
    view_fields(out, &shown);
}

void view_ranks(const struct shown *s, const struct subject *of, const json_t *found, struct view_out *out)
{
    const struct registry_shown joined = shown_registry(s);

    (void)found;
    if (of->fixed != NULL)
        show_static_ranks(of->fixed, out);
    else
        registry_show_ranks(&joined, of->job, out);
}

static uint64_t number_of(const json_t *object, const char *key)
{
    return (uint64_t)json_integer_value(json_object_get(object, key));
}

void view_slots(const struct shown *s, const struct subject *of, const json_t *found, struct view_out *out)
{
    const struct of_job_view shown = {
        .name = of->name, .slots = number_of(found, "slots"), .collecting = number_of(found, "collecting")};
    const json_t *slot, *rank;
    size_t i, r;

    (void)s;
    json_array_foreach (json_object_get(found, "waiting"), i, slot) {
        struct slot_view row = {.slot = number_of(slot, "slot"),
                                .tag = number_of(slot, "tag"),
                                .contributed = number_of(slot, "contributed")};

        json_array_foreach (json_object_get(slot, "missing"), r, rank)
            ranks_add(row.missing.set, (unsigned)json_integer_value(rank) % AGG_MAX_RANKS);
        view_row(out, &row);
    }
    view_fields(out, &shown);
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

void view_tenants(const struct shown *s, const struct subject *of, const json_t *found, struct view_out *out)
{
    (void)of;
    (void)found;
    for (unsigned i = 0; i < s->cfg->tenants; i++) {
        const struct tenant_view row = {.name = s->cfg->tenant[i].name,
                                        .jobs = jobs_of(s, i),
                                        .jobs_quota = s->cfg->tenant[i].quota.jobs};

        view_row(out, &row);
    }
}
