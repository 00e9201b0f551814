#include "views.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "protocols.h"
#include "version.h"

static uint64_t counted(const struct ps *ps, enum shard_count what)
{
    uint64_t sum = 0;

    for (unsigned s = 0; s < ps->shards; s++)
        sum += counter_read(&ps->shard[s].count[what]);
    return sum;
}

static void write_status(const struct ps *ps, const struct ctl_entry *job, struct writer *w)
{
    unsigned jobs, workers;

    (void)job;
    ctl_registry_in_use(ps->common.registry, &jobs, &workers);
    writer_text(w, "name", ps->name);
    writer_text(w, "version", build_version);
    writer_number(w, "pid", (uint64_t)getpid());
    writer_number(w, "up_s", (clock_ns() - ps->started) / 1000000000u);
    writer_ip(w, "ip", ps->cfg->server.ip);
    writer_number(w, "threads", ps->shards);
    writer_number(w, "jobs", jobs);
    writer_number(w, "pool_bytes", (uint64_t)ps->cfg->pool.megabytes << 20);
    writer_number(w, "pool_bytes_in_use", ps->jobs.bytes);
    writer_text(w, "log_level", log_level_name(log_get_level()));
    writer_counter(w, "log_lines_lost", log_lost());
}

static void write_counters(const struct ps *ps, const struct ctl_entry *job, struct writer *w)
{
    (void)job;
    for (enum shard_count c = 0; c < SHARD_COUNT_KINDS; c++)
        writer_counter(w, shard_count_name(c), counted(ps, c));
    for (enum drop d = DROP_CONTROL_FULL; d <= DROP_CONTROL_MEMBER_RATE; d++)
        writer_counter(w, drop_name(d), counter_read(&ps->reception.counts.drop[d]));
}

static void write_protocol(const struct ps *ps, const struct agg_protocol *p, struct writer *w)
{
    for (unsigned r = 0; r < p->reasons; r++) {
        uint64_t sum = 0;

        for (unsigned s = 0; s < ps->shards; s++)
            sum += counter_read(&ps->shard[s].verdict[p->id][r]);
        writer_row(w);
        writer_text(w, "protocol", p->name);
        writer_text(w, "verdict", p->reason[r].name);
        writer_counter(w, "packets", sum);
        writer_end(w);
    }
}

static void write_verdicts(const struct ps *ps, const struct ctl_entry *job, struct writer *w)
{
    unsigned protocols;
    const struct agg_protocol *const *protocol = agg_protocols(&protocols);

    (void)job;
    writer_table(w, "verdicts");
    for (unsigned p = 0; p < protocols; p++)
        if (protocol[p]->udp_ports.first != 0)
            write_protocol(ps, protocol[p], w);
    writer_end(w);
}

static void write_jobs(const struct ps *ps, const struct ctl_entry *job, struct writer *w)
{
    const struct registry_shown s = registry_host_shown(&ps->common);

    (void)job;
    writer_table(w, "jobs");
    registry_write_jobs(&s, w);
    writer_end(w);
}

static void write_job(const struct ps *ps, const struct ctl_entry *job, struct writer *w)
{
    const struct registry_shown s = registry_host_shown(&ps->common);

    registry_write_job(&s, job, w);
}

static void write_ranks(const struct ps *ps, const struct ctl_entry *job, struct writer *w)
{
    const struct registry_shown s = registry_host_shown(&ps->common);

    registry_write_ranks(&s, job, w);
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

static void write_tenants(const struct ps *ps, const struct ctl_entry *job, struct writer *w)
{
    const struct config *cfg = ps->cfg;

    (void)job;
    writer_table(w, "tenants");
    for (unsigned t = 0; t < cfg->tenants + cfg->leaving; t++) {
        const struct config_quota *quota = &cfg->tenant[t].quota;
        const struct jobs_held held = jobs_held_by(&ps->jobs, (int)t);

        writer_row(w);
        writer_text(w, "name", cfg->tenant[t].name);
        writer_number(w, "jobs", live_jobs_of(ps, (int)t));
        writer_number(w, "jobs_quota", quota->jobs);
        writer_number(w, "slots", held.slots);
        writer_number(w, "slots_quota", quota->slots);
        writer_number(w, "pool_bytes", held.bytes);
        writer_number(w, "pool_bytes_quota", (uint64_t)quota->megabytes << 20);
        writer_end(w);
    }
    writer_end(w);
}

static const struct view views[] = {
    {"status", false, write_status},
    {"counters", false, write_counters},
    {"verdicts", false, write_verdicts},
    {"jobs", false, write_jobs},
    {"job", true, write_job},
    {"ranks", true, write_ranks},
    {"tenants", false, write_tenants},
};
enum { VIEWS = sizeof(views) / sizeof(views[0]) };

const struct view *views_find(const char *name)
{
    for (unsigned i = 0; i < VIEWS; i++)
        if (strcmp(views[i].name, name) == 0)
            return &views[i];
    return NULL;
}

size_t views_names(char *text, size_t room)
{
    size_t used = 0;

    for (unsigned i = 0; i < VIEWS && used < room; i++)
        used += (size_t)snprintf(text + used, room - used, "%s%s", i > 0 ? ", " : "", views[i].name);
    return used;
}
