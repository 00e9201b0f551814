/* Views of jobs, their members and slots. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
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
    const struct replay *replayed;
};

struct shown_member {
    enum ctl_member_state state;
    uint32_t ip; /* network order */
    uint16_t data_port;
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

static void visit_replayed(const struct visit *v, const struct replay *job)
{
    const struct shown_job shown = {
        .name = job->name,
        .state = CTL_ENTRY_RUNNING,
        .now = clock_ns(),
        .since = job->since,
        .size = job->plan.size,
        .present = job->plan.size,
        .number = job->number,
        .protocol = job->plan.protocol,
        .terms = job->plan.terms,
        .replayed = job,
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
            .heard_ms_ago = m->state == CTL_MEMBER_ABSENT ? 0 : (job->now - m->heard_at) / 1000000,
            .heartbeat = m->heartbeat};
    }
    return (struct shown_member){.state = CTL_MEMBER_JOINED,
                                 .ip = job->replayed->plan.member[rank].ip,
                                 .data_port = rte_be_to_cpu_16(job->replayed->plan.member[rank].udp_port),
                                 .heard_ms_ago = (job->now - job->since) / 1000000};
}

/* A failed job may linger beside its successor of the same name: the successor is shown. */
static bool supersedes(const struct shown_job *job, enum ctl_entry_state shown)
{
    return shown == CTL_ENTRY_FREE || (shown == CTL_ENTRY_FAILED && job->state != CTL_ENTRY_FAILED);
}

/* All jobs: those that workers have joined, then those of the configuration. */
static void visit_jobs(const struct show_parts *parts, job_visitor *visitor, void *context)
{
    struct visit visit = {.visitor = visitor, .context = context};

    registrar_visit(parts->registrar, visit_joined, &visit);
    for (unsigned i = 0; i < parts->replays->n; i++)
        visit_replayed(&visit, &parts->replays->job[i]);
}

struct job_list {
    unsigned n;
    struct {
        char name[CTL_NAME_MAX];
        enum ctl_entry_state state;
    } job[JOBS_MAX + CONFIG_REPLAYS_MAX];
};

static void list_job(void *context, const struct shown_job *job)
{
    struct job_list *list = context;
    unsigned i = 0;

    while (i < list->n && strcmp(list->job[i].name, job->name) != 0)
        i++;
    if (i == list->n) {
        list->n++;
        snprintf(list->job[i].name, CTL_NAME_MAX, "%s", job->name);
        list->job[i].state = CTL_ENTRY_FREE;
    }
    if (supersedes(job, list->job[i].state))
        list->job[i].state = job->state;
}

/* "STATE NAME" each: names have characters that are not allowed in a dictionary's keys. */
int view_jobs(const struct show_parts *parts, const char *params, struct rte_tel_data *d)
{
    struct job_list list = {0};

    (void)params;
    visit_jobs(parts, list_job, &list);
    rte_tel_data_start_array(d, RTE_TEL_STRING_VAL);
    for (unsigned i = 0; i < list.n; i++) {
        char text[CTL_NAME_MAX + 16];

        snprintf(text, sizeof(text), "%s %s", ctl_entry_state_name(list.job[i].state), list.job[i].name);
        rte_tel_data_add_array_string(d, text);
    }
    return 0;
}

/* Finds the job of a name, and shows it. */
struct job_search {
    const char *name;
    enum ctl_entry_state found;
    const struct jobs *jobs;
    void (*show)(const struct job_search *s, const struct shown_job *job);
    struct rte_tel_data *d;
};

static void show_if_named(void *context, const struct shown_job *job)
{
    struct job_search *s = context;

    if (strcmp(job->name, s->name) != 0 || !supersedes(job, s->found))
        return;
    s->found = job->state;
    rte_tel_data_start_dict(s->d);
    s->show(s, job);
}

static int show_named(const struct show_parts *parts, const char *name, struct rte_tel_data *d,
                      void (*show)(const struct job_search *s, const struct shown_job *job))
{
    struct job_search s = {.name = name, .found = CTL_ENTRY_FREE, .jobs = parts->jobs, .show = show, .d = d};

    if (name == NULL)
        return -EINVAL;
    visit_jobs(parts, show_if_named, &s);
    return s.found == CTL_ENTRY_FREE ? -ENOENT : 0;
}

/* A list in the dictionary, one entry a member; add writes the entry. */
static void list_members(struct rte_tel_data *d, const char *name, const struct shown_job *job,
                         enum rte_tel_value_type type,
                         void (*add)(struct rte_tel_data *list, uint16_t rank, const struct shown_member *m))
{
    struct rte_tel_data *list = rte_tel_data_alloc();

    if (list == NULL)
        return;
    rte_tel_data_start_array(list, type);
    for (uint16_t rank = 0; rank < job->size; rank++) {
        const struct shown_member m = member_of(job, rank);

        add(list, rank, &m);
    }
    rte_tel_data_add_dict_container(d, name, list, 0);
}

static void add_missing(struct rte_tel_data *list, uint16_t rank, const struct shown_member *m)
{
    if (m->state != CTL_MEMBER_JOINED)
        rte_tel_data_add_array_int(list, rank);
}

static void add_state(struct rte_tel_data *list, uint16_t rank, const struct shown_member *m)
{
    static const char *const names[] = {
        [CTL_MEMBER_ABSENT] = "absent",
        [CTL_MEMBER_JOINED] = "joined",
        [CTL_MEMBER_LEFT] = "left",
        [CTL_MEMBER_LOST] = "lost",
    };

    (void)rank;
    rte_tel_data_add_array_string(list, names[m->state]);
}

static void add_address(struct rte_tel_data *list, uint16_t rank, const struct shown_member *m)
{
    const uint8_t *ip = (const uint8_t *)&m->ip;
    char text[32];

    (void)rank;
    snprintf(text, sizeof(text), "%u.%u.%u.%u:%u", ip[0], ip[1], ip[2], ip[3], m->data_port);
    rte_tel_data_add_array_string(list, text);
}

static void add_heard_ms_ago(struct rte_tel_data *list, uint16_t rank, const struct shown_member *m)
{
    (void)rank;
    rte_tel_data_add_array_u64(list, m->heard_ms_ago);
}

static void add_calls(struct rte_tel_data *list, uint16_t rank, const struct shown_member *m)
{
    (void)rank;
    rte_tel_data_add_array_u64(list, m->heartbeat.calls);
}

static void add_waiting(struct rte_tel_data *list, uint16_t rank, const struct shown_member *m)
{
    (void)rank;
    rte_tel_data_add_array_int(list, m->heartbeat.waiting);
}

static void add_stalled_ms(struct rte_tel_data *list, uint16_t rank, const struct shown_member *m)
{
    (void)rank;
    rte_tel_data_add_array_u64(list, m->heartbeat.stalled_ms);
}

static void show_terms(struct rte_tel_data *d, const struct shown_job *job)
{
    struct agg_term list[AGG_LISTED_TERMS];
    const unsigned n = job->protocol->list(&job->terms, list);

    rte_tel_data_add_dict_string(d, "protocol", job->protocol->name);
    for (unsigned i = 0; i < n; i++)
        if (list[i].word != NULL)
            rte_tel_data_add_dict_string(d, list[i].name, list[i].word);
        else
            rte_tel_data_add_dict_int(d, list[i].name, (int)list[i].number);
}

static void show_job(const struct job_search *s, const struct shown_job *job)
{
    struct rte_tel_data *d = s->d;

    rte_tel_data_add_dict_string(d, "name", job->name);
    rte_tel_data_add_dict_string(d, "state", ctl_entry_state_name(job->state));
    rte_tel_data_add_dict_u64(d, "in_state_ms", (job->now - job->since) / 1000000);
    rte_tel_data_add_dict_u64(d, "epoch", job->epoch);
    rte_tel_data_add_dict_int(d, "size", job->size);
    rte_tel_data_add_dict_int(d, "present", job->present);
    show_terms(d, job);
    if (job->state == CTL_ENTRY_RUNNING) {
        rte_tel_data_add_dict_int(d, "number", job->number);
        rte_tel_data_add_dict_int(d, "in_place",
                                  jobs_find(s->jobs, job->protocol->id, job->number)->in_place);
    }
    if (job->state == CTL_ENTRY_FAILED) {
        rte_tel_data_add_dict_string(d, "reason", ctl_reason_name(job->failure->reason));
        rte_tel_data_add_dict_string(d, "failure", job->failure->text);
    }
    list_members(d, "missing", job, RTE_TEL_INT_VAL, add_missing);
    list_members(d, "states", job, RTE_TEL_STRING_VAL, add_state);
    list_members(d, "addresses", job, RTE_TEL_STRING_VAL, add_address);
    list_members(d, "heard_ms_ago", job, RTE_TEL_U64_VAL, add_heard_ms_ago);
    list_members(d, "calls", job, RTE_TEL_U64_VAL, add_calls);
    list_members(d, "waiting", job, RTE_TEL_INT_VAL, add_waiting);
    list_members(d, "stalled_ms", job, RTE_TEL_U64_VAL, add_stalled_ms);
}

int view_job(const struct show_parts *parts, const char *params, struct rte_tel_data *d)
{
    return show_named(parts, params, d, show_job);
}

/* "0 2 5": the ranks that a slot waits for. */
static void write_missing(char *text, size_t room, const struct agg_slot_view *slot, uint16_t size)
{
    size_t n = 0;

    text[0] = '\0';
    for (unsigned r = 0; r < size && n < room; r++)
        if ((slot->ranks[r / 64] >> r % 64 & 1) == 0)
            n += (size_t)snprintf(text + n, room - n, "%s%u", n == 0 ? "" : " ", r);
}

static void show_slots(const struct job_search *s, const struct shown_job *job)
{
    const struct job *running =
        job->state == CTL_ENTRY_RUNNING ? jobs_find(s->jobs, job->protocol->id, job->number) : NULL;
    struct agg_slot_view slot;
    unsigned slots = 0, collecting = 0;

    for (; running != NULL && job->protocol->view(running->common.pool, slots, &slot); slots++) {
        char name[32], missing[RTE_TEL_MAX_STRING_LEN - 1];

        if (slot.contributed == 0 || collecting++ >= SLOTS_SHOWN)
            continue;
        snprintf(name, sizeof(name), "slot_%u_tag_%u", slots, slot.chunk);
        write_missing(missing, sizeof(missing), &slot, job->size);
        rte_tel_data_add_dict_string(s->d, name, missing);
    }
    rte_tel_data_add_dict_int(s->d, "slots", (int)slots);
    rte_tel_data_add_dict_int(s->d, "collecting", (int)collecting);
}

int view_slots(const struct show_parts *parts, const char *params, struct rte_tel_data *d)
{
    return show_named(parts, params, d, show_slots);
}
