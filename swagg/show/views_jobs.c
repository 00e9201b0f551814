/* Views of jobs, their members and slots. What there is to say of one job is written while it is visited. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "aggregate/jobs_frames.h"
#include "base/counter.h"
#include "show/delays.h"
#include "show/views.h"

enum { SLOTS_SHOWN = 64 }; /* of those that wait */

/* A job, whether its workers joined it or it is in the configuration. */
struct shown_job {
    const char *name;
    enum ctl_entry_state state;
    uint64_t now, since; /* by the clock of the job's times */
    uint32_t epoch;
    uint16_t size, present;
    uint8_t number; /* while it runs */
    const struct agg_protocol *protocol;
    struct agg_terms terms;
    const struct ctl_failure *failure; /* while it has failed */
    const struct ctl_entry *joined;    /* or: */
    const struct static_job *fixed;
};

struct shown_member {
    enum ctl_member_state state;
    uint32_t ip; /* network order */
    uint16_t data_port, threads;
    uint64_t heard_ms_ago;
    struct ctl_heartbeat heartbeat;
};

typedef void job_visitor(void *context, const struct shown_job *job);

struct visit {
    job_visitor *visitor;
    void *context;
};

static void visit_joined(void *context, const struct ctl_entry *job, uint64_t now)
{
    const struct visit *v = context;
    const struct shown_job shown = {
        .name = job->name,
        .state = job->state,
        .now = now,
        .since = job->since,
        .epoch = job->epoch,
        .size = job->size,
        .present = job->present,
        .number = job->number,
        .protocol = job->protocol,
        .terms = job->terms,
        .failure = &job->failure,
        .joined = job,
    };

    v->visitor(v->context, &shown);
}

static void visit_static(const struct visit *v, const struct static_job *job, uint64_t now)
{
    const struct shown_job shown = {
        .name = job->name,
        .state = CTL_ENTRY_RUNNING,
        .now = now,
        .since = counter_read(&job->since),
        .epoch = (uint32_t)counter_read(&job->runs),
        .size = job->plan.size,
        .present = job->plan.size,
        .number = job->number,
        .protocol = job->plan.protocol,
        .terms = job->plan.terms,
        .fixed = job,
    };

    v->visitor(v->context, &shown);
}

static struct shown_member member_of(const struct shown_job *job, uint16_t rank)
{
    if (job->joined != NULL) {
        const struct ctl_member *m = &job->joined->members[rank];

        return (struct shown_member){
            .state = m->state,
            .ip = m->endpoint.ip,
            .data_port = m->data_port,
            .threads = 1,
            .heard_ms_ago = m->state == CTL_MEMBER_ABSENT ? 0 : (job->now - m->heard_at) / 1000000,
            .heartbeat = m->heartbeat};
    }
    return (struct shown_member){.state = CTL_MEMBER_JOINED,
                                 .ip = job->fixed->plan.member[rank].ip,
                                 .data_port = rte_be_to_cpu_16(job->fixed->plan.member[rank].udp_port),
                                 .threads = RTE_MAX(job->fixed->plan.threads, 1),
                                 .heard_ms_ago = (job->now - counter_read(&job->fixed->heard_at)) / 1000000};
}

/* All jobs: those that workers have joined, then those of the configuration. */
static void visit_jobs(const struct show_parts *parts, job_visitor *visitor, void *context)
{
    struct visit visit = {.visitor = visitor, .context = context};

    registrar_visit(parts->registrar, visit_joined, &visit);
    for (unsigned i = 0; i < parts->static_jobs->n; i++)
        visit_static(&visit, &parts->static_jobs->job[i], counter_read(&parts->static_jobs->now));
}

/* Visiting must be quick, so that what is listed is copied first. */
struct job_list {
    unsigned n;
    struct listed_job {
        char name[CTL_NAME_MAX];
        enum ctl_entry_state state;
        uint16_t size, present;
        uint64_t in_state_ms;
        const char *protocol;
    } job[JOBS_MAX + CONFIG_REPLAYS_MAX + CONFIG_STATIC_JOBS_MAX];
};

static void list_job(void *context, const struct shown_job *job)
{
    struct job_list *list = context;
    struct listed_job *to = &list->job[list->n++];

    *to = (struct listed_job){.state = job->state,
                              .size = job->size,
                              .present = job->present,
                              .in_state_ms = (job->now - job->since) / 1000000,
                              .protocol = job->protocol->name};
    snprintf(to->name, sizeof(to->name), "%s", job->name);
}

int view_jobs(const struct show_parts *parts, const char *name, struct writer *w)
{
    struct job_list list = {0};

    (void)name;
    visit_jobs(parts, list_job, &list);
    writer_table(w, "jobs");
    for (const struct listed_job *job = list.job; job < &list.job[list.n]; job++) {
        writer_row(w);
        writer_text(w, "name", job->name);
        writer_text(w, "state", ctl_entry_state_name(job->state));
        writer_number(w, "in_state_ms", job->in_state_ms);
        writer_number(w, "size", job->size);
        writer_number(w, "present", job->present);
        writer_text(w, "protocol", job->protocol);
        writer_end(w);
    }
    writer_end(w);
    return 0;
}

void view_job_names(const struct show_parts *parts, view_name_visitor *visit, void *context)
{
    struct job_list list = {0};

    visit_jobs(parts, list_job, &list);
    for (unsigned i = 0; i < list.n; i++)
        visit(context, list.job[i].name);
}

/* Finds the job of a name, and shows it. */
struct job_search {
    const char *name;
    bool found;
    const struct jobs *jobs;
    void (*show)(const struct job_search *s, const struct shown_job *job);
    struct writer *w;
};

static void show_if_named(void *context, const struct shown_job *job)
{
    struct job_search *s = context;

    if (s->found || strcmp(job->name, s->name) != 0)
        return;
    s->found = true;
    s->show(s, job);
}

static int show_named(const struct show_parts *parts, const char *name, struct writer *w,
                      void (*show)(const struct job_search *s, const struct shown_job *job))
{
    struct job_search s = {.name = name, .jobs = parts->jobs, .show = show, .w = w};

    if (name == NULL)
        return -EINVAL;
    visit_jobs(parts, show_if_named, &s);
    return s.found ? 0 : -ENOENT;
}

/* NULL: it does not run, or is about to get a new pool. */
static const struct job *running_of(const struct job_search *s, const struct shown_job *job)
{
    return job->state == CTL_ENTRY_RUNNING ? jobs_find(s->jobs, job->protocol->id, job->number) : NULL;
}

/* Of the job that was found. */
struct running_search {
    const char *name;
    bool found;
    unsigned protocol, number;
};

static void find_running(void *context, const struct shown_job *job)
{
    struct running_search *s = context;

    if (job->state != CTL_ENTRY_RUNNING || strcmp(job->name, s->name) != 0)
        return;
    *s = (struct running_search){s->name, true, job->protocol->id, job->number};
}

bool view_find_running(const struct show_parts *parts, const char *name, unsigned *protocol, unsigned *number)
{
    struct running_search s = {.name = name};

    visit_jobs(parts, find_running, &s);
    *protocol = s.protocol;
    *number = s.number;
    return s.found;
}

static void write_missing(struct writer *w, const struct shown_job *job)
{
    writer_numbers(w, "missing");
    for (uint16_t rank = 0; rank < job->size; rank++)
        if (member_of(job, rank).state != CTL_MEMBER_JOINED)
            writer_number(w, NULL, rank);
    writer_end(w);
}

static void write_terms(struct writer *w, const struct shown_job *job)
{
    struct agg_term list[AGG_LISTED_TERMS];
    const unsigned n = job->protocol->list(&job->terms, list);

    writer_text(w, "protocol", job->protocol->name);
    for (unsigned i = 0; i < n; i++)
        if (list[i].word != NULL)
            writer_text(w, list[i].name, list[i].word);
        else
            writer_number(w, list[i].name, list[i].number);
}

static void show_job(const struct job_search *s, const struct shown_job *job)
{
    const struct job *running = running_of(s, job);
    struct writer *w = s->w;

    writer_text(w, "name", job->name);
    if (job->joined != NULL)
        writer_text(w, "tenant", s->jobs->quota.tenant[job->joined->tenant].name);
    writer_text(w, "state", ctl_entry_state_name(job->state));
    writer_number(w, "in_state_ms", (job->now - job->since) / 1000000);
    writer_number(w, "epoch", job->epoch);
    writer_number(w, "size", job->size);
    writer_number(w, "present", job->present);
    writer_flag(w, "keyed", job->joined != NULL && job->joined->keyed);
    writer_flag(w, "draining", job->joined != NULL && job->joined->draining);
    write_terms(w, job);
    if (running != NULL) {
        writer_number(w, "number", job->number);
        writer_number(w, "kept_frames", jobs_kept_frames(running));
        writer_number(w, "kept_frames_max", running->frames);
        delays_write_job(w, running);
    }
    if (job->state == CTL_ENTRY_FAILED) {
        writer_text(w, "reason", ctl_reason_name(job->failure->reason));
        writer_text(w, "failure", job->failure->text);
    }
    write_missing(w, job);
}

int view_job(const struct show_parts *parts, const char *name, struct writer *w)
{
    return show_named(parts, name, w, show_job);
}

static void write_member(struct writer *w, uint16_t rank, const struct shown_member *m)
{
    static const char *const states[] = {
        [CTL_MEMBER_ABSENT] = "absent",
        [CTL_MEMBER_JOINED] = "joined",
        [CTL_MEMBER_LEFT] = "left",
        [CTL_MEMBER_LOST] = "lost",
    };
    const uint8_t *ip = (const uint8_t *)&m->ip;

    writer_number(w, "rank", rank);
    writer_text(w, "state", states[m->state]);
    if (m->threads > 1)
        writer_format(w, "address", "%u.%u.%u.%u:%u-%u", ip[0], ip[1], ip[2], ip[3], m->data_port,
                      m->data_port + m->threads - 1);
    else
        writer_format(w, "address", "%u.%u.%u.%u:%u", ip[0], ip[1], ip[2], ip[3], m->data_port);
    writer_number(w, "heard_ms_ago", m->heard_ms_ago);
    writer_counter(w, "calls", m->heartbeat.calls);
    writer_flag(w, "waiting", m->heartbeat.waiting);
    writer_number(w, "stalled_ms", m->heartbeat.stalled_ms);
}

static void show_ranks(const struct job_search *s, const struct shown_job *job)
{
    const struct job *running = running_of(s, job);

    writer_text(s->w, "name", job->name);
    write_missing(s->w, job);
    writer_table(s->w, "ranks");
    for (uint16_t rank = 0; rank < job->size; rank++) {
        const struct shown_member m = member_of(job, rank);

        writer_row(s->w);
        write_member(s->w, rank, &m);
        delays_write_rank(s->w, running, rank);
        writer_end(s->w);
    }
    writer_end(s->w);
}

int view_ranks(const struct show_parts *parts, const char *name, struct writer *w)
{
    return show_named(parts, name, w, show_ranks);
}

/* The ranks that a slot waits for. */
static void write_awaited(struct writer *w, const struct agg_slot_view *slot, uint16_t size)
{
    writer_numbers(w, "missing");
    for (unsigned r = 0; r < size; r++)
        if ((slot->ranks[r / 64] >> r % 64 & 1) == 0)
            writer_number(w, NULL, r);
    writer_end(w);
}

static void write_slot(struct writer *w, unsigned number, const struct agg_slot_view *slot, uint16_t size)
{
    writer_row(w);
    writer_number(w, "slot", number);
    writer_number(w, "tag", slot->chunk);
    writer_number(w, "contributed", slot->contributed);
    write_awaited(w, slot, size);
    writer_end(w);
}

static void show_slots(const struct job_search *s, const struct shown_job *job)
{
    const struct job *running = running_of(s, job);
    struct agg_slot_view slot;
    unsigned slots = 0, collecting = 0;

    writer_text(s->w, "name", job->name);
    writer_table(s->w, "waiting");
    for (; running != NULL && job->protocol->view(running->common.pool, slots, &slot); slots++)
        if (slot.contributed > 0 && collecting++ < SLOTS_SHOWN)
            write_slot(s->w, slots, &slot, job->size);
    writer_end(s->w);
    writer_number(s->w, "slots", slots);
    writer_number(s->w, "collecting", collecting);
}

int view_slots(const struct show_parts *parts, const char *name, struct writer *w)
{
    return show_named(parts, name, w, show_slots);
}
