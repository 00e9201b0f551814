/* Views of jobs, their members and slots. What there is to say of one job is written while it is visited. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "aggregate/jobs_frames.h"
#include "show/delays.h"
#include "show/shown_jobs.h"
#include "show/views.h"
#include "views/terms.h"

enum { SLOTS_SHOWN = 64 }; /* of those that wait */

/* Visiting must be quick, so that what is listed is copied first. */
struct job_list {
    unsigned n;
    struct listed_job {
        char name[CTL_NAME_MAX];
        enum ctl_entry_state state;
        uint16_t size, present;
        uint64_t in_state_ms;
        const char *protocol;
        int tenant;
        uint8_t network;
    } job[2 * JOBS_MAX + CONFIG_FIXED_JOBS_MAX]; /* of its own, passed up, of the configuration */
};

static void list_job(void *context, const struct shown_job *job)
{
    struct job_list *list = context;
    struct listed_job *to = &list->job[list->n++];

    *to = (struct listed_job){.state = job->state,
                              .size = job->size,
                              .present = job->present,
                              .in_state_ms = (job->now - job->since) / 1000000,
                              .protocol = job->protocol->name,
                              .tenant = job->tenant,
                              .network = job->network};
    snprintf(to->name, sizeof(to->name), "%s", job->name);
}

int view_jobs(const struct show_parts *parts, const char *name, struct writer *w)
{
    struct job_list list = {0};

    (void)name;
    shown_jobs_visit(parts, list_job, &list);
    writer_table(w, "jobs");
    for (const struct listed_job *job = list.job; job < &list.job[list.n]; job++) {
        writer_row(w);
        writer_text(w, "name", job->name);
        writer_text(w, "state", ctl_entry_state_name(job->state));
        writer_number(w, "in_state_ms", job->in_state_ms);
        writer_number(w, "size", job->size);
        writer_number(w, "present", job->present);
        writer_text(w, "protocol", job->protocol);
        writer_text(w, "tenant", shown_job_tenant(parts, job->tenant));
        writer_number(w, "vlan", parts->vlans->vlan[job->network].id);
        writer_end(w);
    }
    writer_end(w);
    return 0;
}

/* Whether another tenant has a job of this name. */
static bool is_shared_name(const struct job_list *list, const struct listed_job *job)
{
    for (unsigned i = 0; i < list->n; i++)
        if (list->job[i].tenant != job->tenant && strcmp(list->job[i].name, job->name) == 0)
            return true;
    return false;
}

void view_job_names(const struct show_parts *parts, view_name_visitor *visit, void *context)
{
    struct job_list list = {0};
    char call[SHOWN_JOB_CALL_MAX];

    shown_jobs_visit(parts, list_job, &list);
    for (const struct listed_job *job = list.job; job < &list.job[list.n]; job++) {
        shown_job_call(parts, job->tenant, job->name, call);
        visit(context, is_shared_name(&list, job) ? call : job->name);
    }
}

void view_job_calls(const struct show_parts *parts, const char *name, view_name_visitor *visit, void *context)
{
    struct job_list list = {0};
    char call[SHOWN_JOB_CALL_MAX];

    shown_jobs_visit(parts, list_job, &list);
    for (const struct listed_job *job = list.job; job < &list.job[list.n]; job++) {
        if (strcmp(job->name, name) != 0)
            continue;
        shown_job_call(parts, job->tenant, job->name, call);
        visit(context, call);
    }
}

static void note_job(void *context, const struct shown_job *job)
{
    struct view_job *found = context;

    *found = (struct view_job){.tenant = job->tenant,
                               .fixed = job->fixed,
                               .runs = job->state == CTL_ENTRY_RUNNING,
                               .protocol = job->protocol->id,
                               .number = job->number};
    snprintf(found->name, sizeof(found->name), "%s", job->name);
}

int view_find_job(const struct show_parts *parts, const char *called, struct view_job *found)
{
    return shown_jobs_find(parts, called, note_job, found);
}

/* What writes the one that is found. */
struct job_showing {
    const struct show_parts *parts;
    void (*show)(const struct job_showing *s, const struct shown_job *job);
    struct writer *w;
};

static void show_found(void *context, const struct shown_job *job)
{
    const struct job_showing *s = context;

    s->show(s, job);
}

static int show_named(const struct show_parts *parts, const char *name, struct writer *w,
                      void (*show)(const struct job_showing *s, const struct shown_job *job))
{
    struct job_showing s = {.parts = parts, .show = show, .w = w};

    return name == NULL ? -EINVAL : shown_jobs_find(parts, name, show_found, &s);
}

/* NULL: it does not run, or is about to get a new pool. */
static const struct job *running_of(const struct job_showing *s, const struct shown_job *job)
{
    return job->state == CTL_ENTRY_RUNNING ? jobs_find(s->parts->jobs, job->protocol->id, job->number) : NULL;
}

static void write_missing(struct writer *w, const struct shown_job *job)
{
    writer_numbers(w, "missing");
    for (uint16_t rank = 0; rank < job->size; rank++)
        if (shown_job_is_here(job, rank) && shown_job_member(job, rank).state != CTL_MEMBER_JOINED)
            writer_number(w, NULL, rank);
    writer_end(w);
}

/* What the workers say of themselves. */
static void write_workers(struct writer *w, const struct shown_job *job)
{
    uint32_t least = UINT32_MAX, most = 0, resumed = 0;
    uint64_t retransmitted = 0;

    for (uint16_t rank = 0; rank < job->size; rank++) {
        const struct shown_member m = shown_job_member(job, rank);

        retransmitted += m.heartbeat.retransmitted;
        resumed = RTE_MAX(resumed, m.heartbeat.resumed);
        most = RTE_MAX(most, m.heartbeat.window);
        if (m.heartbeat.window > 0)
            least = RTE_MIN(least, m.heartbeat.window);
    }
    writer_counter(w, "retransmitted", retransmitted);
    writer_number(w, "window_least", most == 0 ? 0 : least);
    writer_number(w, "window_most", most);
    writer_number(w, "restarts", job->joined->restarts);
    writer_number(w, "resumed_most", resumed);
}

/* Where in a tree of switches this one stands. */
static void write_place(struct writer *w, const struct shown_job *job, const struct job *running)
{
    writer_number(w, "level", shown_job_level(job));
    if (job->relayed != NULL) {
        writer_ip(w, "parent", job->relayed->parent.ip);
        writer_number(w, "parent_number", job->relayed->parent_number);
    } else {
        writer_text(w, "parent", "");
    }
    if (running != NULL)
        writer_number(w, "contributors", running->common.size);
}

/* Whoever every chunk lacks that has begun holds up the job: who is dead, or stopped, or slow at this moment.
 * In a pipeline that flows there is seldom such a rank. */
static void write_waits_for(struct writer *w, const struct shown_job *job, const struct job *running)
{
    struct agg_slot_view slot;
    bool lacked[AGG_MAX_RANKS] = {false}, begun = false;

    for (unsigned i = 0; running != NULL && job->protocol->view(running->common.pool, i, &slot); i++) {
        for (uint16_t rank = 0; rank < job->size && slot.contributed > 0; rank++)
            lacked[rank] = (lacked[rank] || !begun) && !ranks_has(slot.ranks, rank);
        begun |= slot.contributed > 0;
    }
    writer_numbers(w, "waits_for");
    for (uint16_t rank = 0; rank < job->size; rank++)
        if (lacked[rank])
            writer_number(w, NULL, rank);
    writer_end(w);
}

/* Members' packets that are in no sum. */
static void write_amiss(struct writer *w, const struct shown_job *job, const struct job *running)
{
    const struct job_amiss late = jobs_amiss(running, AGG_AMISS_ALONE),
                           amiss = jobs_amiss(running, AGG_AMISS);

    writer_counter(w, "late", late.n);
    writer_counter(w, "amiss", amiss.n);
    if (amiss.n > 0)
        writer_format(w, "amiss_last", "%s, rank %u, thread %u", job->protocol->reason[amiss.reason].name,
                      amiss.rank, amiss.thread);
    else
        writer_text(w, "amiss_last", "");
}

static void show_job(const struct job_showing *s, const struct shown_job *job)
{
    const struct job *running = running_of(s, job);
    struct writer *w = s->w;

    writer_text(w, "name", job->name);
    writer_text(w, "tenant", shown_job_tenant(s->parts, job->tenant));
    writer_number(w, "vlan", s->parts->vlans->vlan[job->network].id);
    writer_text(w, "state", ctl_entry_state_name(job->state));
    writer_number(w, "in_state_ms", (job->now - job->since) / 1000000);
    writer_number(w, "epoch", job->epoch);
    writer_number(w, "size", job->size);
    writer_number(w, "present", job->present);
    writer_flag(w, "keyed", job->joined != NULL && job->joined->keyed);
    writer_flag(w, "draining", job->joined != NULL && job->joined->draining);
    write_terms(w, job->protocol, &job->terms);
    if (running != NULL) {
        writer_number(w, "number", job->number);
        writer_number(w, "kept_frames", jobs_kept_frames(running));
        writer_number(w, "kept_frames_max", running->frames);
        write_amiss(w, job, running);
        delays_write_job(w, running, job->size);
    }
    if (job->joined != NULL)
        write_workers(w, job);
    if (job->state == CTL_ENTRY_FAILED) {
        writer_text(w, "reason", ctl_reason_name(job->failure->reason));
        writer_text(w, "failure", job->failure->text);
    }
    write_missing(w, job);
    write_waits_for(w, job, running);
    write_place(w, job, running);
}

int view_job(const struct show_parts *parts, const char *name, struct writer *w)
{
    return show_named(parts, name, w, show_job);
}

static void write_member(struct writer *w, uint16_t rank, const struct shown_member *m)
{
    const uint8_t *ip = (const uint8_t *)&m->ip;

    writer_number(w, "rank", rank);
    writer_text(w, "state", m->above ? "above" : ctl_member_state_name(m->state));
    if (m->mac != NULL)
        writer_mac(w, "address", m->mac);
    else if (m->threads > 1)
        writer_format(w, "address", "%u.%u.%u.%u:%u-%u", ip[0], ip[1], ip[2], ip[3], m->data_port,
                      m->data_port + m->threads - 1);
    else
        writer_format(w, "address", "%u.%u.%u.%u:%u", ip[0], ip[1], ip[2], ip[3], m->data_port);
    writer_number(w, "heard_ms_ago", m->heard_ms_ago);
    writer_counter(w, "calls", m->heartbeat.calls);
    writer_flag(w, "waiting", m->heartbeat.waiting);
    writer_number(w, "stalled_ms", m->heartbeat.stalled_ms);
}

/* Of this rank by its worker, and of the workers before it; 0 in static jobs. */
static void write_told(struct writer *w, const struct shown_member *m)
{
    writer_counter(w, "retransmitted", m->heartbeat.retransmitted);
    writer_number(w, "window", m->heartbeat.window);
    writer_number(w, "restarts", m->restarts);
    writer_number(w, "resumed", m->heartbeat.resumed);
}

/* The rank's own switch: its level, counted from the root, and its address, if it is another than this one.
 */
static void write_switch(struct writer *w, const struct shown_member *m)
{
    writer_number(w, "level", m->level);
    if (m->via != 0)
        writer_ip(w, "switch", m->via);
    else
        writer_text(w, "switch", "");
}

static void show_ranks(const struct job_showing *s, const struct shown_job *job)
{
    const struct job *running = running_of(s, job);

    writer_text(s->w, "name", job->name);
    write_missing(s->w, job);
    writer_table(s->w, "ranks");
    for (uint16_t rank = 0; rank < job->size; rank++) {
        const struct shown_member m = shown_job_member(job, rank);

        writer_row(s->w);
        write_member(s->w, rank, &m);
        delays_write_rank(s->w, running, rank);
        write_told(s->w, &m);
        write_switch(s->w, &m);
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
        if (!ranks_has(slot->ranks, r))
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

static void show_slots(const struct job_showing *s, const struct shown_job *job)
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
