#include "membership.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/secret.h"
#include "setup.h"
#include "switchml/terms.h"
#include "terms.h"

/* --- what the next life is to know ---------------------------------------------------------------------- */

/* Of what changes about running jobs, of that which is in the file. */
static uint64_t fingerprint(const struct registry_host *h)
{
    uint64_t print = 1;

    for (unsigned i = 0; i < h->config.max_jobs; i++) {
        const struct ctl_entry *job = ctl_registry_entry(h->registry, i);

        if (job->state != CTL_ENTRY_RUNNING)
            continue;
        print = print * 1000003 + ((uint64_t)job->epoch << 32 | (uint64_t)job->present << 1 | job->draining);
        for (uint16_t rank = 0; rank < job->size; rank++)
            print = print * 1000003 + (uint64_t)helper_mac(job->members[rank].endpoint.mac);
    }
    return print;
}

/* Writes it, if it has changed. */
static void keep(struct registry_host *h)
{
    struct membership *m = (struct membership *)h;
    const uint64_t print = h->registry == NULL ? m->kept : fingerprint(h);
    int rc;

    if (print == m->kept)
        return;
    m->kept = print;
    rc = saved_write(m->parts.state, m->parts.cfg, &h->config, h->registry);
    if (rc == 0) {
        m->unwritten = false;
        return;
    }
    if (m->unwritten)
        return; /* it has been said */
    m->unwritten = true;
    log_notice("%s: %s; the next start knows of no change since (--state names another file)", m->parts.state,
               strerror(-rc));
}

/* --- what the registry asks for --------------------------------------------------------------------- */

/* Nobody is told of anything that the next life would not know. */
static void send_message(void *context, const struct ctl_endpoint *to, const uint8_t *payload, size_t bytes)
{
    struct membership *m = context;

    keep(&m->common);
    m->parts.send(m->parts.context, to, payload, bytes);
}

static int prepare(void *context, const struct ctl_entry *job, struct agg_terms *terms, uint8_t *number,
                   char text[CTL_TEXT_MAX])
{
    struct membership *m = context;
    const int chosen = numbers_choose(&m->numbers, job);
    struct sml_terms t;

    if (chosen < 0) {
        snprintf(text, CTL_TEXT_MAX, "all %d job numbers are taken", AGG_JOBS);
        return -EMFILE;
    }
    while (sml_terms_parse(&t, terms) && t.slots > m->parts.cfg->pool.slots_per_job &&
           tofino_protocol.lower(terms))
        ;
    *number = (uint8_t)chosen;
    numbers_open(&m->numbers, (unsigned)chosen, job, terms);
    return CTL_LATER;
}

static void release(void *context, const struct ctl_entry *job)
{
    struct membership *m = context;

    for (unsigned i = 0; i < AGG_JOBS; i++) {
        struct number *n = &m->numbers.number[i];

        if (n->use == NUMBER_OPENING && n->preparation == job->preparation)
            n->use = NUMBER_UNWANTED;
    }
    if (job->state == CTL_ENTRY_RUNNING && m->numbers.number[job->number].use == NUMBER_OPEN)
        numbers_close(&m->numbers, job->number);
}

static void moved(void *context, const struct ctl_entry *job, unsigned rank)
{
    struct membership *m = context;

    (void)rank;
    numbers_lead(&m->numbers, job);
}

/* Of a job that nobody joins. */
static bool is_taken(void *context, const struct ctl_endpoint *from, uint16_t data_port,
                     char text[CTL_TEXT_MAX])
{
    const struct membership *m = context;
    const int job = setup_static_job(m->parts.cfg, from->ip, data_port);

    if (job >= 0)
        snprintf(text, CTL_TEXT_MAX, "UDP port %u is that of a worker of the static job %s", data_port,
                 m->parts.cfg->static_job[job].common.name);
    return job >= 0;
}

static const struct registry_host_kind kind = {.actions = {.send = send_message,
                                                           .prepare = prepare,
                                                           .release = release,
                                                           .moved = moved,
                                                           .is_taken = is_taken},
                                               .changed = keep};

/* --- life ------------------------------------------------------------------------------------------- */

static uint64_t ask_to_begin(struct membership *m)
{
    json_t *jobs = json_array(), *request = json_copy((json_t *)m->parts.setup);

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

    json_array_foreach (numbers, i, one)
        if (json_integer_value(one) == number)
            return true;
    return false;
}

/* A job of the life before, which the switch has. */
static void go_on(struct membership *m, const struct ctl_entry *job, uint64_t now)
{
    numbers_go_on(&m->numbers, job);
    if (ctl_registry_restore(m->common.registry, job, now))
        return;
    log_notice("job %s: cannot go on: it is not within limits.jobs and limits.workers any more", job->name);
    numbers_close(&m->numbers, job->number);
}

/* If the switch has lost them all, this is another switch to their workers. */
static void begin(struct membership *m, const json_t *kept, uint64_t now)
{
    const struct saved *before = m->before;

    if (before != NULL && (before->jobs + before->left_out == 0 || json_array_size(kept) > 0))
        m->common.parts.boot_id = before->boot_id;
    registry_host_begin(&m->common);
    for (unsigned i = 0; before != NULL && i < before->jobs; i++)
        if (is_in(kept, before->job[i].entry.number))
            go_on(m, &before->job[i].entry, now);
        else
            log_notice("job %s: cannot go on: the switch does not have it any more",
                       before->job[i].entry.name);
    free(m->before);
    m->before = NULL;
}

/* --- answers ---------------------------------------------------------------------------------------- */

/* A member may have moved while its job was made. */
static void lead_to_members(struct membership *m, unsigned number)
{
    for (unsigned i = 0; i < m->common.config.max_jobs; i++) {
        const struct ctl_entry *job = ctl_registry_entry(m->common.registry, i);

        if (job->state == CTL_ENTRY_RUNNING && job->number == number)
            numbers_lead(&m->numbers, job);
    }
}

static void opened(struct membership *m, unsigned number, const char *error, uint64_t now)
{
    struct number *n = &m->numbers.number[number];
    struct ctl_prepared p = {
        .result = error == NULL ? 0 : -ENOSPC, .terms = n->terms, .number = (uint8_t)number};
    const uint64_t preparation = n->preparation;

    if (error != NULL) {
        if (n->use == NUMBER_OPENING && numbers_open_smaller(&m->numbers, number))
            return;
        snprintf(p.text, sizeof(p.text), "%s", error);
        numbers_free(&m->numbers, number);
    } else if (n->use == NUMBER_UNWANTED) {
        numbers_close(&m->numbers, number);
        return;
    } else {
        n->use = NUMBER_OPEN;
    }
    ctl_registry_prepared(m->common.registry, preparation, &p, now);
    lead_to_members(m, number);
}

static void closed(struct membership *m, unsigned number, const char *error)
{
    if (error == NULL)
        numbers_free(&m->numbers, number);
    else
        log_notice("job number %u is not used again: %s", number, error);
}

void membership_answered(struct membership *m, uint64_t id, const json_t *answer, uint64_t now)
{
    const int number = numbers_asked(&m->numbers, id);
    const char *error = helper_error(answer);

    registry_host_enter(&m->common, 0, now);
    if (id == m->begun && error == NULL)
        begin(m, json_object_get(answer, "kept"), m->common.now);
    else if (number >= 0 && m->numbers.number[number].use == NUMBER_CLOSING)
        closed(m, (unsigned)number, error);
    else if (number >= 0)
        opened(m, (unsigned)number, error, m->common.now);
    else if (error != NULL)
        log_notice("%s", error);
    m->failed |= id == m->begun && error != NULL;
    registry_host_leave(&m->common);
}

int membership_open(struct membership *m, const struct membership_parts *parts, uint64_t now)
{
    static const struct agg_protocol *const protocols[] = {&tofino_protocol};
    const struct registry_host_parts common = {.kind = &kind,
                                               .cfg = parts->cfg,
                                               .protocols = protocols,
                                               .protocols_known = 1,
                                               .boot_id = secret64() | 1,
                                               .data_ports = 1,
                                               .max_workers = TOFINO_MAX_WORKERS,
                                               .payload_bytes =
                                                   (uint16_t)(SML_HEADER_BYTES + 4 * parts->elements)};
    char why[SAVED_WHY_MAX];
    int rc;

    *m = (struct membership){.parts = *parts, .numbers.helper = parts->helper};
    rc = registry_host_open(&m->common, &common, now);
    if (rc < 0)
        return rc;
    m->before = saved_read(parts->state, &m->common.config, why);
    if (why[0] != '\0')
        log_notice("%s", why);
    m->begun = ask_to_begin(m);
    return 0;
}

void membership_close(struct membership *m)
{
    for (unsigned i = 0; i < AGG_JOBS; i++)
        json_decref(m->numbers.number[i].workers);
    free(m->before);
    registry_host_close(&m->common);
}

bool membership_follow(struct membership *m, uint64_t now)
{
    registry_host_enter(&m->common, 0, now);
    registry_host_follow(&m->common); /* what its tenants have */
    m->kept = 0;                      /* which does not tell of static jobs */
    registry_host_leave(&m->common);
    return !m->unwritten;
}

void membership_tick(struct membership *m)
{
    if (m->unwritten)
        m->kept = 0; /* there may be room now */
}
