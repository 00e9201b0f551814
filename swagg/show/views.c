#include "show/views.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "history/history.h"

int view_gather(const struct show_parts *parts, const struct view *view, const char *name,
                struct view_out *out)
{
    static view_fn *const gatherers[VIEWS] = {
        [VIEW_STATUS] = view_status,     [VIEW_PORTS] = view_ports,       [VIEW_PORT] = view_port,
        [VIEW_JOBS] = view_jobs,         [VIEW_JOB] = view_job,           [VIEW_MEMBERS] = view_members,
        [VIEW_TENANTS] = view_tenants,   [VIEW_UPLINKS] = view_uplinks,   [VIEW_SLOTS] = view_slots,
        [VIEW_SUMS] = view_sums,         [VIEW_FDB] = view_fdb,           [VIEW_DROPS] = view_drops,
        [VIEW_COUNTERS] = view_counters, [VIEW_VERDICTS] = view_verdicts, [VIEW_LCORES] = view_lcores,
        [VIEW_LCORE] = view_lcore,       [VIEW_MEMORY] = view_memory,     [VIEW_HISTORY] = view_history,
        [VIEW_EVENTS] = view_history,    [VIEW_RESERVED] = view_reserved, [VIEW_PEERS] = view_peers,
    };
    int rc;

    view_lock(parts);
    rc = gatherers[view - views](parts, name, out);
    view_unlock(parts);
    return rc;
}

int view_history(const struct show_parts *parts, const char *name, struct view_out *out)
{
    return history_show(parts->history, name, out);
}

void view_lock(const struct show_parts *parts)
{
    pthread_mutex_lock(parts->lock);
}

void view_unlock(const struct show_parts *parts)
{
    pthread_mutex_unlock(parts->lock);
}

static const struct {
    const char *name;
    view_names_fn *list;
} subjects[VIEW_SUBJECTS] = {
    [VIEW_OF_ALL] = {"nothing", NULL},
    [VIEW_OF_PORT] = {"port", view_port_names},
    [VIEW_OF_LCORE] = {"lcore", view_lcore_names},
    [VIEW_OF_JOB] = {"job", view_job_names},
};

const char *view_subject_name(enum view_subject subject)
{
    return subjects[subject].name;
}

static void visit_names(const struct show_parts *parts, enum view_subject subject, view_name_visitor *visit,
                        void *context)
{
    if (subjects[subject].list != NULL)
        subjects[subject].list(parts, visit, context);
}

struct name_search {
    const char *name;
    bool found;
};

static void compare(void *context, const char *name)
{
    struct name_search *s = context;

    s->found |= strcmp(name, s->name) == 0;
}

int view_subject_find(const struct show_parts *parts, enum view_subject subject, const char *name)
{
    struct name_search search = {.name = name};
    struct view_job job;

    if (subject == VIEW_OF_JOB)
        return view_find_job(parts, name, &job);
    visit_names(parts, subject, compare, &search);
    return search.found ? 0 : -ENOENT;
}

struct name_list {
    char *text;
    size_t room, used;
};

static void append_name(void *context, const char *name)
{
    struct name_list *list = context;
    const char *more = ", ...", *between = list->used > 0 ? ", " : "";

    if (list->used + strlen(between) + strlen(name) + strlen(more) >= list->room) {
        if (list->used > 0 && list->text[list->used - 1] != '.')
            list->used += (size_t)snprintf(list->text + list->used, list->room - list->used, "%s", more);
        return;
    }
    list->used += (size_t)snprintf(list->text + list->used, list->room - list->used, "%s%s", between, name);
}

void view_subject_list(const struct show_parts *parts, enum view_subject subject, char *text, size_t room)
{
    struct name_list list = {.text = text, .room = room};

    visit_names(parts, subject, append_name, &list);
    if (list.used == 0)
        snprintf(text, room, "none");
}
