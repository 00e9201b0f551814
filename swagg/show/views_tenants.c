/* View of the tenants: what each has of the switch. */
#include "aggregate/jobs_share.h"
#include "show/shown_jobs.h"
#include "show/views.h"

struct used {
    const struct show_parts *parts;
    struct tenant_view by[CONFIG_TENANTS_MAX];
};

static void add_job(void *context, const struct shown_job *shown)
{
    struct used *used = context;
    const struct switch_job *job = shown_job_running(used->parts, shown);
    struct tenant_view *of;

    if (shown->tenant < 0 || shown->state == CTL_ENTRY_FAILED)
        return;
    of = &used->by[shown->tenant];
    of->jobs++;
    if (job == NULL)
        return;
    of->slots += job->slots;
    of->pool_bytes += job->bytes;
    of->kept_frames += jobs_kept_frames(job);
}

int view_tenants(const struct show_parts *parts, const char *params, struct view_out *out)
{
    const struct jobs_quota *quota = &parts->jobs->quota;
    struct used used = {.parts = parts};

    (void)params;
    shown_jobs_visit(parts, add_job, &used);
    for (unsigned i = 0; i < quota->tenants; i++) {
        const struct config_tenant *t = &quota->tenant[i];
        struct tenant_view *row = &used.by[i];

        row->name = t->name;
        row->shares = row->holds = row->keeps = true;
        row->weight = t->weight;
        row->jobs_quota = t->quota.jobs;
        row->slots_quota = t->quota.slots;
        row->pool_bytes_quota = (uint64_t)t->quota.megabytes << 20;
        row->kept_frames_quota = t->quota.kept_frames;
        view_row(out, row);
    }
    return 0;
}
