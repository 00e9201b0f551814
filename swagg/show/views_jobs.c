/* Views of jobs, their members and slots. What there is to say of one job is written while it is visited. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "aggregate/jobs_share.h"
#include "monotonic.h"
#include "protocol/ranks.h"
#include "show/shown_jobs.h"
#include "show/views.h"
#include "views/arrivals.h"

enum { SLOTS_SHOWN = 64 }; /* of those that wait */

/* Visiting must be quick, so that what is listed is copied first. */
struct job_list {
    const struct show_parts *parts;
    unsigned n;
    struct listed_job {
        struct jobs_view row; /* but for its name */
        char name[CTL_NAME_MAX];
        int tenant;
    } job[2 * JOBS_MAX + CONFIG_FIXED_JOBS_MAX]; /* of its own, passed up, of the configuration */
};

static void list_job(void *context, const struct shown_job *job)
{
    struct job_list *list = context;
    struct listed_job *to = &list->job[list->n++];

    to->row = (struct jobs_view){.state = ctl_entry_state_name(job->state),
                                 .in_state_ms = (job->now - job->since) / NS_PER_MS,
                                 .size = job->size,
                                 .present = job->present,
                                 .protocol = job->protocol->name,
                                 .tenant = shown_job_tenant(list->parts, job->tenant),
                                 .has_vlan = true,
                                 .vlan = list->parts->vlans->vlan[job->network].id};
    to->tenant = job->tenant;
    snprintf(to->name, sizeof(to->name), "%s", job->name);
}

int view_jobs(const struct show_parts *parts, const char *name, struct view_out *out)
{
    struct job_list list = {.parts = parts};

    (void)name;
    shown_jobs_visit(parts, list_job, &list);
    for (struct listed_job *job = list.job; job < &list.job[list.n]; job++) {
        job->row.name = job->name;
        view_row(out, &job->row);
    }
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
    struct job_list list = {.parts = parts};
    char call[SHOWN_JOB_CALL_MAX];

    shown_jobs_visit(parts, list_job, &list);
    for (const struct listed_job *job = list.job; job < &list.job[list.n]; job++) {
        shown_job_call(parts, job->tenant, job->name, call);
        visit(context, is_shared_name(&list, job) ? call : job->name);
    }
}

void view_job_calls(const struct show_parts *parts, const char *name, view_name_visitor *visit, void *context)
{
    struct job_list list = {.parts = parts};
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
                               .network = job->network,
                               .ranks = job->size,
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

static struct view_ranks missing_of(const struct shown_job *job)
{
    struct view_ranks missing = {0};

    for (uint16_t rank = 0; rank < job->size; rank++)
        if (shown_job_is_here(job, rank) && shown_job_member(job, rank).state != CTL_MEMBER_JOINED)
            ranks_add(missing.set, rank);
    return missing;
}

/* What the workers say of themselves. */
static void add_heartbeats(struct job_view *shown, const struct shown_job *job)
{
    shown->heartbeats = job->joined != NULL;
    for (uint16_t rank = 0; shown->heartbeats && rank < job->size; rank++) {
        const struct shown_member m = shown_job_member(job, rank);
        const uint64_t window = m.heartbeat.window;

        shown->retransmitted += m.heartbeat.retransmitted;
        shown->resumed_most = RTE_MAX(shown->resumed_most, (uint64_t)m.heartbeat.resumed);
        shown->window_most = RTE_MAX(shown->window_most, window);
        if (window > 0 && (shown->window_least == 0 || window < shown->window_least))
            shown->window_least = window;
    }
    shown->restarts = job->joined != NULL ? job->joined->restarts : 0;
}

/* Where in a tree of switches this one stands. */
static void add_place(struct job_view *shown, const struct shown_job *job)
{
    shown->placed = true;
    shown->level = shown_job_level(job);
    shown->relayed = job->relayed != NULL;
    if (job->relayed == NULL)
        return;
    view_ip(shown->parent, job->relayed->parent.ip);
    shown->parent_number = job->relayed->parent_number;
}

/* In a tree of switches nothing is noted of ranks that come by the switch above. */
static bool is_elsewhere(const struct switch_job *running)
{
    return running != NULL && running->parent != NULL && running->made_of.delays;
}

static const struct agg_job *common_of(const struct switch_job *running)
{
    return running == NULL ? NULL : &running->common;
}

/* What there is to tell of one that runs. */
static void add_running(struct job_view *shown, const struct shown_job *job, const struct switch_job *running)
{
    const struct job_amiss late = jobs_amiss(running, AGG_AMISS_ALONE),
                           amiss = jobs_amiss(running, AGG_AMISS);

    shown->runs = shown->switched = shown->parts = true;
    shown->number = job->number;
    shown->kept_frames = jobs_kept_frames(running);
    shown->kept_frames_max = running->frames;
    shown->contributors = running->common.size;
    shown->late = late.n;
    shown->amiss = amiss.n;
    if (amiss.n > 0)
        snprintf(shown->amiss_last, sizeof(shown->amiss_last), "%s, rank %u, thread %u",
                 job->protocol->reason[amiss.reason].name, amiss.rank, amiss.thread);
    arrivals_of_job(shown, &running->common, is_elsewhere(running), job->size);
    shown->rated = shown->delays;
    shown->contributions_per_s = __atomic_load_n(&running->rate.contributions, __ATOMIC_RELAXED);
    shown->bytes_per_s = __atomic_load_n(&running->rate.bytes, __ATOMIC_RELAXED);
}

static void show_job(const struct job_showing *s, const struct shown_job *job)
{
    const struct switch_job *running = shown_job_running(s->parts, job);
    struct job_view shown = {.name = job->name,
                             .tenant = shown_job_tenant(s->parts, job->tenant),
                             .has_vlan = true,
                             .vlan = s->parts->vlans->vlan[job->network].id,
                             .state = ctl_entry_state_name(job->state),
                             .joined = true,
                             .in_state_ms = (job->now - job->since) / NS_PER_MS,
                             .epoch = job->epoch,
                             .size = job->size,
                             .present = job->present,
                             .keyed = job->joined != NULL && job->joined->keyed,
                             .draining = job->joined != NULL && job->joined->draining,
                             .terms = {job->protocol, &job->terms},
                             .failed = job->state == CTL_ENTRY_FAILED,
                             .missing = missing_of(job),
                             .awaits = true,
                             .waits_for = arrivals_awaited(common_of(running), job->size)};

    if (running != NULL)
        add_running(&shown, job, running);
    if (shown.failed) {
        shown.reason = ctl_reason_name(job->failure->reason);
        shown.failure = job->failure->text;
    }
    add_heartbeats(&shown, job);
    add_place(&shown, job);
    view_fields(s->out, &shown);
}

int view_job(const struct show_parts *parts, const char *name, struct view_out *out)
{
    return shown_jobs_show(parts, name, out, show_job);
}

static void show_ranks(const struct job_showing *s, const struct shown_job *job)
{
    const struct of_job_view shown = {.name = job->name, .joined = true, .missing = missing_of(job)};
    const struct switch_job *running = shown_job_running(s->parts, job);

    for (uint16_t rank = 0; rank < job->size; rank++) {
        const struct shown_member m = shown_job_member(job, rank);
        struct rank_view row = {.rank = rank,
                                .joined = true,
                                .state = m.above ? "above" : ctl_member_state_name(m.state),
                                .heard_ms_ago = m.heard_ms_ago,
                                .calls = m.heartbeat.calls,
                                .waiting = m.heartbeat.waiting,
                                .stalled_ms = m.heartbeat.stalled_ms,
                                .retransmitted = m.heartbeat.retransmitted,
                                .window = m.heartbeat.window,
                                .restarts = m.restarts,
                                .resumed = m.heartbeat.resumed,
                                .placed = true,
                                .level = m.level};

        if (m.mac != NULL)
            net_mac_text(row.address, m.mac);
        else
            view_address(row.address, m.ip, m.data_port, m.threads);
        if (m.via != 0)
            view_ip(row.at, m.via);
        arrivals_of_rank(&row, common_of(running), is_elsewhere(running), rank);
        view_row(s->out, &row);
    }
    view_fields(s->out, &shown);
}

int view_members(const struct show_parts *parts, const char *name, struct view_out *out)
{
    return shown_jobs_show(parts, name, out, show_ranks);
}

static void show_slots(const struct job_showing *s, const struct shown_job *job)
{
    const struct switch_job *running = shown_job_running(s->parts, job);
    struct of_job_view shown = {.name = job->name};
    struct agg_slot_view slot;

    for (; running != NULL && job->protocol->view(running->common.pool, (uint32_t)shown.slots, &slot);
         shown.slots++) {
        const struct slot_view row = {.slot = shown.slots,
                                      .tag = slot.chunk,
                                      .contributed = slot.contributed,
                                      .missing = arrivals_lacked_by(&slot, job->size)};

        if (slot.contributed > 0 && shown.collecting++ < SLOTS_SHOWN)
            view_row(s->out, &row);
    }
    view_fields(s->out, &shown);
}

int view_slots(const struct show_parts *parts, const char *name, struct view_out *out)
{
    return shown_jobs_show(parts, name, out, show_slots);
}
