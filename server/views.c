#include "views.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "protocols.h"
#include "show/registry_views.h"
#include "version.h"

static uint64_t counted(const struct ps *ps, enum shard_count what)
{
    uint64_t sum = 0;

    for (unsigned s = 0; s < ps->shards; s++)
        sum += counter_read(&ps->shard[s].count[what]);
    return sum;
}

static int write_status(const struct ps *ps, const char *name, struct writer *w)
{
    unsigned jobs, workers;

    (void)name;
    ctl_registry_in_use(ps->registry, &jobs, &workers);
    writer_text(w, "name", ps->name);
    writer_text(w, "version", build_version);
    writer_number(w, "pid", (uint64_t)getpid());
    writer_number(w, "up_s", (clock_ns() - ps->started) / 1000000000u);
    writer_ip(w, "ip", ps->cfg->ip);
    writer_number(w, "threads", ps->shards);
    writer_number(w, "jobs", jobs);
    writer_number(w, "pool_bytes", (uint64_t)ps->cfg->pool.megabytes << 20);
    writer_number(w, "pool_bytes_in_use", ps->jobs.bytes);
    writer_text(w, "log_level", log_level_name(log_get_level()));
    writer_counter(w, "log_lines_lost", log_lost());
    return 0;
}

static int write_counters(const struct ps *ps, const char *name, struct writer *w)
{
    (void)name;
    for (enum shard_count c = 0; c < SHARD_COUNT_KINDS; c++)
        writer_counter(w, shard_count_name(c), counted(ps, c));
    writer_counter(w, "control_rate", counter_read(&ps->rate_drops));
    return 0;
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

static int write_verdicts(const struct ps *ps, const char *name, struct writer *w)
{
    unsigned protocols;
    const struct agg_protocol *const *protocol = agg_protocols(&protocols);

    (void)name;
    writer_table(w, "verdicts");
    for (unsigned p = 0; p < protocols; p++)
        if (protocol[p]->udp_ports.first != 0)
            write_protocol(ps, protocol[p], w);
    writer_end(w);
    return 0;
}

static struct registry_shown shown(const struct ps *ps)
{
    return (struct registry_shown){.registry = ps->registry, .entries = ps->cfg->limits.jobs, .now = ps->now};
}

static int write_jobs(const struct ps *ps, const char *name, struct writer *w)
{
    const struct registry_shown s = shown(ps);

    (void)name;
    writer_table(w, "jobs");
    registry_write_jobs(&s, w);
    writer_end(w);
    return 0;
}

static int write_named(const struct ps *ps, const char *name, struct writer *w,
                       void (*write)(const struct registry_shown *, const struct ctl_entry *,
                                     struct writer *))
{
    const struct registry_shown s = shown(ps);
    const struct ctl_entry *job;
    const int rc = name == NULL ? -EINVAL : registry_find(&s, name, &job);

    if (rc == 0)
        write(&s, job, w);
    return rc;
}

static int write_job(const struct ps *ps, const char *name, struct writer *w)
{
    return write_named(ps, name, w, registry_write_job);
}

static int write_ranks(const struct ps *ps, const char *name, struct writer *w)
{
    return write_named(ps, name, w, registry_write_ranks);
}

const struct view *views_find(const char *name)
{
    static const struct view views[] = {
        {"status", write_status}, {"counters", write_counters}, {"verdicts", write_verdicts},
        {"jobs", write_jobs},     {"job", write_job},           {"ranks", write_ranks},
    };

    for (unsigned i = 0; i < sizeof(views) / sizeof(views[0]); i++)
        if (strcmp(views[i].name, name) == 0)
            return &views[i];
    return NULL;
}
