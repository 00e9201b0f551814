#include "commands.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "base/log.h"
#include "metrics/metrics.h"
#include "monotonic.h"
#include "operator/common_commands.h"
#include "protocols.h"
#include "registry/registry_reserve.h"
#include "version.h"
#include "views/declared.h"

/* --- views, which are gathered under the server's lock, and only read --- */

/* What a view is made of. */
struct look {
    const struct ps *ps;
    struct registry_shown joined;
    const struct ctl_entry *job; /* the one that the request names, of a view of one */
};

typedef void ps_view_fn(const struct look *l, struct view_out *out);

static uint64_t counted(const struct ps *ps, enum shard_count what)
{
    uint64_t sum = 0;

    for (unsigned s = 0; s < ps->shards; s++)
        sum += counter_read(&ps->shard[s].count[what]);
    return sum;
}

static void show_status(const struct look *l, struct view_out *out)
{
    struct status_view shown = {.name = l->ps->name,
                                .version = build_version,
                                .pid = (uint64_t)getpid(),
                                .up_s = (monotonic_ns() - l->ps->started) / 1000000000u,
                                .serves = true,
                                .threads = l->ps->shards,
                                .pool_bytes = (uint64_t)l->ps->cfg->pool.megabytes << 20,
                                .pool_bytes_in_use = l->ps->jobs.bytes,
                                .log_level = log_level_name(log_get_level()),
                                .log_lines_lost = log_lost()};
    unsigned jobs, workers;

    ctl_registry_in_use(l->ps->common.registry, &jobs, &workers);
    shown.jobs = jobs;
    view_ip(shown.ip, l->ps->cfg->server.ip);
    view_fields(out, &shown);
}

static void show_counters(const struct look *l, struct view_out *out)
{
    struct view_count of[SHARD_COUNT_KINDS + DROP_CONTROL_MEMBER_RATE - DROP_CONTROL_FULL + 1];
    struct counted_view shown = {.counts = {0, of}};

    for (enum shard_count c = 0; c < SHARD_COUNT_KINDS; c++)
        of[shown.counts.n++] = (struct view_count){shard_count_name(c), counted(l->ps, c)};
    for (enum drop d = DROP_CONTROL_FULL; d <= DROP_CONTROL_MEMBER_RATE; d++)
        of[shown.counts.n++] =
            (struct view_count){drop_name(d), counter_read(&l->ps->reception.counts.drop[d])};
    view_fields(out, &shown);
}

static void show_protocol(const struct ps *ps, const struct agg_protocol *p, struct view_out *out)
{
    for (unsigned r = 0; r < p->reasons; r++) {
        struct verdict_view row = {.protocol = p->name, .verdict = p->reason[r].name};

        for (unsigned s = 0; s < ps->shards; s++)
            row.packets += counter_read(&ps->shard[s].verdict[p->id][r]);
        view_row(out, &row);
    }
}

static void show_verdicts(const struct look *l, struct view_out *out)
{
    const struct counted_view shown = {.by_protocol = true};
    unsigned protocols;
    const struct agg_protocol *const *protocol = agg_protocols(&protocols);

    for (unsigned p = 0; p < protocols; p++)
        if (shard_carries(protocol[p]))
            show_protocol(l->ps, protocol[p], out);
    view_fields(out, &shown);
}

static void show_jobs(const struct look *l, struct view_out *out)
{
    registry_show_jobs(&l->joined, out);
}

static void show_job(const struct look *l, struct view_out *out)
{
    registry_show_job(&l->joined, l->job, jobs_running(&l->ps->jobs, l->job), out);
}

static void show_ranks(const struct look *l, struct view_out *out)
{
    registry_show_ranks(&l->joined, l->job, jobs_running(&l->ps->jobs, l->job), out);
}

static unsigned live_jobs_of(const struct ps *ps, int tenant)
{
    unsigned jobs = 0;

    for (unsigned i = 0; i < ps->cfg->limits.jobs; i++) {
        const struct ctl_entry *job = ctl_registry_entry(ps->common.registry, i);

        jobs += job->tenant == tenant && ctl_entry_is_live(job);
    }
    return jobs;
}

static void show_tenants(const struct look *l, struct view_out *out)
{
    const struct config *cfg = l->ps->cfg;

    for (unsigned t = 0; t < cfg->tenants + cfg->leaving; t++) {
        const struct config_quota *quota = &cfg->tenant[t].quota;
        const struct jobs_held held = jobs_held_by(&l->ps->jobs, (int)t);
        const struct tenant_view row = {.name = cfg->tenant[t].name,
                                        .jobs = live_jobs_of(l->ps, (int)t),
                                        .jobs_quota = quota->jobs,
                                        .holds = true,
                                        .slots = held.slots,
                                        .slots_quota = quota->slots,
                                        .pool_bytes = held.bytes,
                                        .pool_bytes_quota = (uint64_t)quota->megabytes << 20};

        view_row(out, &row);
    }
}

static void show_reserved(const struct look *l, struct view_out *out)
{
    registry_show_reserved(&l->ps->common, out);
}

static void show_peers(const struct look *l, struct view_out *out)
{
    metrics_show_peers(&l->ps->cfg->metrics, out);
}

/* NULL: a server has no such view. */
static ps_view_fn *ps_view(const struct view *view)
{
    static ps_view_fn *const shown[VIEWS] = {
        [VIEW_STATUS] = show_status,     [VIEW_JOBS] = show_jobs,         [VIEW_JOB] = show_job,
        [VIEW_MEMBERS] = show_ranks,     [VIEW_TENANTS] = show_tenants,   [VIEW_COUNTERS] = show_counters,
        [VIEW_VERDICTS] = show_verdicts, [VIEW_RESERVED] = show_reserved, [VIEW_PEERS] = show_peers,
    };

    return shown[view - views];
}

/* Writes the names of all, as snprintf does. */
static size_t ps_views_list(char *text, size_t room)
{
    size_t used = 0;

    for (const struct view *v = views; v < &views[VIEWS] && used < room; v++)
        if (ps_view(v) != NULL || history_has(v))
            used += (size_t)snprintf(text + used, room - used, "%s%s", used > 0 ? ", " : "", v->name);
    return used;
}

/* Of jobs that may be over. */
static void show_history(struct ps *ps, const struct view *view, const char *name, struct reply *reply)
{
    struct view_out out;
    int rc;

    view_begin(&out, view);
    rc = history_show(ps->history, name, &out);
    reply_view(reply, &out);
    if (rc < 0)
        reply_fail(reply, REPLY_UNKNOWN, "nothing is known of a job %s", name);
}

static void show(struct ps *ps, const struct view *view, const char *name, struct reply *reply)
{
    struct look look = {.ps = ps};
    struct view_out out;

    view_begin(&out, view);
    pthread_mutex_lock(&ps->common.lock);
    look.joined = registry_host_shown(&ps->common);
    if (view->of == VIEW_OF_JOB)
        look.job = reply_find_job(reply, &look.joined, name);
    if (look.job != NULL || view->of != VIEW_OF_JOB)
        ps_view(view)(&look, &out);
    pthread_mutex_unlock(&ps->common.lock);
    reply_view(reply, &out);
}

int commands_view(void *context, const struct view *view, const char *name, struct view_out *out)
{
    struct ps *ps = context;
    struct look look = {.ps = ps};
    int rc = ps_view(view) == NULL ? -EINVAL : 0;

    pthread_mutex_lock(&ps->common.lock);
    look.joined = registry_host_shown(&ps->common);
    if (rc == 0 && view->of == VIEW_OF_JOB)
        rc = registry_find(&look.joined, name, &look.job);
    if (rc == 0)
        ps_view(view)(&look, out);
    pthread_mutex_unlock(&ps->common.lock);
    return rc;
}

/* A command on its way to the main thread. */
struct errand {
    struct ps *ps;
    const struct common_command *command;
    const struct request *request;
    struct reply *reply;
};

static void run_errand(void *argument)
{
    const struct errand *e = argument;
    const struct common_host host = {&e->ps->common, &e->ps->reload};
    const struct registry_shown jobs = registry_host_shown(&e->ps->common);
    const struct ctl_entry *found = NULL;
    struct common_job job = {0};

    if (e->command->of_job) {
        found = reply_find_job(e->reply, &jobs, request_text(e->request, "name"));
        if (found == NULL)
            return;
        job = (struct common_job){.called = found->name, .name = found->name, .tenant = found->tenant};
    }
    e->command->run(&host, &job, e->request, e->reply);
}

static void refuse(const struct request *request, struct reply *reply)
{
    char there[REQUEST_TEXT_MAX / 2];
    size_t used = ps_views_list(there, sizeof(there));

    for (unsigned i = 0; i < COMMON_COMMANDS && used < sizeof(there); i++)
        used += (size_t)snprintf(there + used, sizeof(there) - used, ", %s", common_commands[i].name);
    reply_fail(reply, REPLY_BAD_REQUEST, "a server has no command \"%s\"; there are: %s", request->command,
               there);
}

void commands_run(void *context, const struct request *request, struct reply *reply, struct server_feed *feed)
{
    struct ps *ps = context;
    const struct view *view = views_find(request->command);
    struct errand errand = {ps, common_command_find(request->command), request, reply};

    (void)feed; /* nothing is captured here */
    if (view != NULL && history_has(view))
        show_history(ps, view, request_text(request, "name"), reply);
    else if (view != NULL && ps_view(view) != NULL)
        show(ps, view, request_text(request, "name"), reply);
    else if (errand.command == NULL)
        refuse(request, reply);
    else if (!handoff_call(&ps->handoff, run_errand, &errand))
        reply_fail(reply, REPLY_FAILED, "the server is stopping");
}
