/* View of the tenants: what each has of the switch. */
#include "aggregate/jobs_frames.h"
#include "show/shown_jobs.h"
#include "show/views.h"

struct used {
    const struct jobs *jobs;
    struct {
        unsigned jobs;
        uint64_t slots, bytes, frames;
    } by[CONFIG_TENANTS_MAX];
};

static void add_job(void *context, const struct shown_job *shown)
{
    struct used *used = context;
    const struct job *job;

    if (shown->tenant < 0 || shown->state == CTL_ENTRY_FAILED)
        return;
    used->by[shown->tenant].jobs++;
    if (shown->state != CTL_ENTRY_RUNNING)
        return;
    job = jobs_find(used->jobs, shown->protocol->id, shown->number);
    if (job == NULL) /* a static job that is about to get a new pool */
        return;
    used->by[shown->tenant].slots += job->slots;
    used->by[shown->tenant].bytes += job->bytes;
    used->by[shown->tenant].frames += jobs_kept_frames(job);
}

int view_tenants(const struct show_parts *parts, const char *params, struct writer *w)
{
    const struct jobs_quota *quota = &parts->jobs->quota;
    struct used used = {.jobs = parts->jobs};

    (void)params;
    shown_jobs_visit(parts, add_job, &used);
    writer_table(w, "tenants");
    for (unsigned i = 0; i < quota->tenants; i++) {
        const struct config_tenant *t = &quota->tenant[i];

        writer_row(w);
        writer_text(w, "name", t->name);
        writer_number(w, "weight", t->weight);
        writer_number(w, "jobs", used.by[i].jobs);
        writer_number(w, "jobs_quota", t->quota.jobs);
        writer_number(w, "slots", used.by[i].slots);
        writer_number(w, "slots_quota", t->quota.slots);
        writer_number(w, "pool_bytes", used.by[i].bytes);
        writer_number(w, "pool_bytes_quota", (uint64_t)t->quota.megabytes << 20);
        writer_number(w, "kept_frames", used.by[i].frames);
        writer_number(w, "kept_frames_quota", t->quota.kept_frames);
        writer_end(w);
    }
    writer_end(w);
    return 0;
}
