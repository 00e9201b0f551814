#include "views.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "protocols.h"
#include "show/terms.h"
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

static int write_jobs(const struct ps *ps, const char *name, struct writer *w)
{
    (void)name;
    writer_table(w, "jobs");
    for (unsigned i = 0; i < ps->cfg->limits.jobs; i++) {
        const struct ctl_entry *job = ctl_registry_entry(ps->registry, i);

        if (job->state == CTL_ENTRY_FREE)
            continue;
        writer_row(w);
        writer_text(w, "name", job->name);
        writer_text(w, "state", ctl_entry_state_name(job->state));
        writer_number(w, "in_state_ms", (ps->now - job->since) / 1000000);
        writer_number(w, "size", job->size);
        writer_number(w, "present", job->present);
        writer_text(w, "protocol", job->protocol->name);
        writer_end(w);
    }
    writer_end(w);
    return 0;
}

/* Of several, one that lives. */
static const struct ctl_entry *find(const struct ps *ps, const char *name)
{
    const struct ctl_entry *found = NULL;

    for (unsigned i = 0; i < ps->cfg->limits.jobs; i++) {
        const struct ctl_entry *job = ctl_registry_entry(ps->registry, i);

        if (job->state != CTL_ENTRY_FREE && strcmp(job->name, name) == 0 &&
            (found == NULL || ctl_entry_is_live(job)))
            found = job;
    }
    return found;
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

static int write_job(const struct ps *ps, const char *name, struct writer *w)
{
    const struct ctl_entry *job = name == NULL ? NULL : find(ps, name);

    if (job == NULL)
        return name == NULL ? -EINVAL : -ENOENT;
    writer_text(w, "name", job->name);
    writer_text(w, "state", ctl_entry_state_name(job->state));
    writer_number(w, "in_state_ms", (ps->now - job->since) / 1000000);
    writer_number(w, "epoch", job->epoch);
    writer_number(w, "size", job->size);
    writer_number(w, "present", job->present);
    write_terms(w, job->protocol, &job->terms);
    if (job->state == CTL_ENTRY_RUNNING)
        writer_number(w, "number", job->number);
    if (job->state == CTL_ENTRY_FAILED) {
        writer_text(w, "reason", ctl_reason_name(job->failure.reason));
        writer_text(w, "failure", job->failure.text);
    }
    write_missing(w, job);
    return 0;
}

static void write_rank(const struct ps *ps, const struct ctl_entry *job, uint16_t rank, struct writer *w)
{
    const struct ctl_member *m = &job->members[rank];
    const uint8_t *ip = (const uint8_t *)&m->endpoint.ip;

    writer_row(w);
    writer_number(w, "rank", rank);
    writer_text(w, "state", ctl_member_state_name(m->state));
    writer_format(w, "address", "%u.%u.%u.%u:%u", ip[0], ip[1], ip[2], ip[3], m->data_port);
    writer_number(w, "heard_ms_ago", m->state == CTL_MEMBER_ABSENT ? 0 : (ps->now - m->heard_at) / 1000000);
    writer_counter(w, "calls", m->heartbeat.calls);
    writer_flag(w, "waiting", m->heartbeat.waiting);
    writer_number(w, "stalled_ms", m->heartbeat.stalled_ms);
    writer_counter(w, "retransmitted", m->heartbeat.retransmitted);
    writer_number(w, "window", m->heartbeat.window);
    writer_end(w);
}

static int write_ranks(const struct ps *ps, const char *name, struct writer *w)
{
    const struct ctl_entry *job = name == NULL ? NULL : find(ps, name);

    if (job == NULL)
        return name == NULL ? -EINVAL : -ENOENT;
    writer_text(w, "name", job->name);
    write_missing(w, job);
    writer_table(w, "ranks");
    for (uint16_t rank = 0; rank < job->size; rank++)
        write_rank(ps, job, rank, w);
    writer_end(w);
    return 0;
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
