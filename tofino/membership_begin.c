#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "membership_state.h"

/* Of what changes about running jobs, of that which is in the file. */
static uint64_t fingerprint(const struct membership *m)
{
    uint64_t print = 1;

    for (unsigned i = 0; i < m->cfg.max_jobs; i++) {
        const struct ctl_entry *job = ctl_registry_entry(m->registry, i);

        if (job->state != CTL_ENTRY_RUNNING)
            continue;
        print = print * 1000003 + ((uint64_t)job->epoch << 32 | (uint64_t)job->present << 1 | job->draining);
        for (uint16_t rank = 0; rank < job->size; rank++)
            print = print * 1000003 + (uint64_t)helper_mac(job->members[rank].endpoint.mac);
    }
    return print;
}

void membership_keep(struct membership *m)
{
    const uint64_t print = fingerprint(m);
    char text[SAVED_WHY_MAX];

    if (print == m->kept)
        return;
    m->kept = print;
    if (saved_write(m->parts.state, &m->cfg, m->registry)) {
        m->unwritten = false;
        return;
    }
    if (m->unwritten)
        return; /* it has been said */
    m->unwritten = true;
    snprintf(text, sizeof(text), "%s: %s; jobs end when swagg-tofino does (--state names another file)",
             m->parts.state, strerror(errno));
    m->parts.log(NULL, text);
}

uint64_t membership_ask_to_begin(struct membership *m)
{
    json_t *jobs = json_array(), *request = json_copy((json_t *)m->parts.place);

    for (unsigned i = 0; m->before != NULL && i < m->before->jobs; i++) {
        const struct ctl_entry *job = &m->before->job[i].entry;

        json_array_append_new(jobs, numbers_describe(job->number, job, &job->terms));
    }
    json_object_set_new(request, "do", json_string("begin"));
    json_object_set_new(request, "jobs", jobs);
    return helper_ask(m->numbers.helper, request);
}

static bool is_in(const json_t *numbers, unsigned number)
{
    size_t i;
    json_t *one;

    json_array_foreach(numbers, i, one) if (json_integer_value(one) == number) return true;
    return false;
}

/* A job of the life before, which the switch has. */
static void go_on(struct membership *m, const struct ctl_entry *job, uint64_t now)
{
    numbers_go_on(&m->numbers, job);
    if (ctl_registry_restore(m->registry, job, now))
        return;
    m->parts.log(job->name, "cannot go on: it is not within limits.jobs and limits.workers any more");
    numbers_close(&m->numbers, job->number);
}

/* If the switch has lost them all, this is another switch to their workers. */
void membership_begin(struct membership *m, const json_t *kept, uint64_t now)
{
    const struct saved *before = m->before;

    if (before != NULL && (before->jobs == 0 || json_array_size(kept) > 0))
        m->cfg.boot_id = before->boot_id;
    m->registry = ctl_registry_init(m->memory, &m->cfg);
    for (unsigned i = 0; before != NULL && i < before->jobs; i++)
        if (is_in(kept, before->job[i].entry.number))
            go_on(m, &before->job[i].entry, now);
        else
            m->parts.log(before->job[i].entry.name, "cannot go on: the switch does not have it any more");
    free(m->before);
    m->before = NULL;
    membership_keep(m);
}
