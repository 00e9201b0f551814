#include "show/views.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

const struct view views[] = {
    {"status", view_status, VIEW_OF_ALL, true,
     "Version, process, addresses, how much there is of everything"},
    {"memory", view_memory, VIEW_OF_ALL, true, "Memory, packet buffers, frames that jobs keep"},
    {"ports", view_ports, VIEW_OF_ALL, true, "Ports, their links and traffic"},
    {"port", view_port, VIEW_OF_PORT, false, "Device, link, frames of a port"},
    {"drops", view_drops, VIEW_OF_PORT, true, "Dropped frames by reason, of all ports or one"},
    {"counters", view_counters, VIEW_OF_ALL, true, "What was done with the other frames"},
    {"verdicts", view_verdicts, VIEW_OF_ALL, true, "What became of gradient packets"},
    {"fdb", view_fdb, VIEW_OF_ALL, true, "Stations, the ports they were heard on, and how long ago"},
    {"lcores", view_lcores, VIEW_OF_ALL, true, "Polling lcores, their tasks and work"},
    {"lcore", view_lcore, VIEW_OF_LCORE, false, "Tasks and counters of an lcore"},
    {"jobs", view_jobs, VIEW_OF_ALL, true, "Jobs and their states"},
    {"job", view_job, VIEW_OF_JOB, false, "State and terms of a job, and its members"},
    {"tenants", view_tenants, VIEW_OF_ALL, true, "Tenants: what each has of the switch, and its quotas"},
    {"uplinks", view_uplinks, VIEW_OF_ALL, true, "Switches above this one, and what goes to them"},
    {"ranks", view_ranks, VIEW_OF_JOB, false, "Members of a job: who is missing, who is late"},
    {"sums", view_sums, VIEW_OF_JOB, false, "Sums of a job of passing frames, the latest chunks"},
    {"slots", view_slots, VIEW_OF_JOB, false, "Slots of a job that wait for contributions"},
};

const unsigned views_count = sizeof(views) / sizeof(views[0]);

void view_lock(const struct show_parts *parts)
{
    pthread_mutex_lock(parts->lock);
}

void view_unlock(const struct show_parts *parts)
{
    pthread_mutex_unlock(parts->lock);
}

const struct view *views_find(const char *name)
{
    for (unsigned i = 0; i < views_count; i++)
        if (strcmp(views[i].name, name) == 0)
            return &views[i];
    return NULL;
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
