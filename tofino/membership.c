#include "membership.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/secret.h"
#include "membership_state.h"
#include "place.h"
#include "registry/tenants.h"
#include "sodium_keys.h"
#include "switchml/terms.h"
#include "terms.h"

/* --- what the registry asks for --------------------------------------------------------------------- */

/* Nobody is told of anything that the next life would not know. */
static void send_message(void *context, const struct ctl_endpoint *to, const uint8_t *payload, size_t bytes)
{
    struct membership *m = context;

    membership_keep(m);
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

static uint64_t random64(void *context)
{
    (void)context;
    return secret64();
}

static void report(void *context, const struct ctl_entry *job, const char *what)
{
    struct membership *m = context;

    if (job_lines_admit(&m->lines, m->now))
        m->parts.log(job->name, what);
}

static int tenant_of(void *context, const struct ctl_endpoint *from, int key, const char *name,
                     char text[CTL_TEXT_MAX])
{
    const struct membership *m = context;

    return tenants_admit(m->parts.cfg, from, key, name, text);
}

/* Of a job that nobody joins. */
static bool is_taken(void *context, const struct ctl_endpoint *from, uint16_t data_port,
                     char text[CTL_TEXT_MAX])
{
    const struct membership *m = context;
    const int job = place_static_job(m->parts.cfg, from->ip, data_port);

    if (job >= 0)
        snprintf(text, CTL_TEXT_MAX, "UDP port %u is that of a worker of the static job %s", data_port,
                 m->parts.cfg->static_job[job].name);
    return job >= 0;
}

/* --- answers ---------------------------------------------------------------------------------------- */

/* A member may have moved while its job was made. */
static void lead_to_members(struct membership *m, unsigned number)
{
    for (unsigned i = 0; i < m->cfg.max_jobs; i++) {
        const struct ctl_entry *job = ctl_registry_entry(m->registry, i);

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
    ctl_registry_prepared(m->registry, preparation, &p, now);
    lead_to_members(m, number);
}

static void closed(struct membership *m, unsigned number, const char *error)
{
    char text[CTL_TEXT_MAX + 100];

    if (error == NULL) {
        numbers_free(&m->numbers, number);
        return;
    }
    snprintf(text, sizeof(text), "job number %u is not used again: %s", number, error);
    m->parts.log(NULL, text);
}

void membership_answered(struct membership *m, uint64_t id, const json_t *answer, uint64_t now)
{
    const int number = numbers_asked(&m->numbers, id);
    const char *error = helper_error(answer);

    m->now = now;
    if (id == m->begun && error != NULL) {
        m->parts.log(NULL, error);
        m->failed = true;
        return;
    }
    if (id == m->begun)
        membership_begin(m, json_object_get(answer, "kept"), now);
    else if (number >= 0 && m->numbers.number[number].use == NUMBER_CLOSING)
        closed(m, (unsigned)number, error);
    else if (number >= 0)
        opened(m, (unsigned)number, error, now);
    else if (error != NULL)
        m->parts.log(NULL, error);
    membership_keep(m);
}

/* --- life ------------------------------------------------------------------------------------------- */

static struct ctl_registry_config registry_config(struct membership *m)
{
    static const struct agg_protocol *const protocols[] = {&tofino_protocol};
    const struct config *cfg = m->parts.cfg;

    return (struct ctl_registry_config){
        .protocols = protocols,
        .protocols_known = 1,
        .max_jobs = (uint16_t)cfg->limits.jobs,
        .max_workers = TOFINO_MAX_WORKERS,
        .tenants_known = cfg->tenants,
        .tenants = m->tenant,
        .jobs_per_host = (uint16_t)cfg->limits.jobs_per_host,
        .forming_max_ns = cfg->timers.forming_s * UINT64_C(1000000000),
        .boot_id = secret64() | 1,
        .lost_after_ns = cfg->timers.lost_after_ms * UINT64_C(1000000),
        .data_ports = 1,
        .library = keys_sodium(),
        .key = m->parts.keys->key,
        .keys = m->parts.keys->keys,
        .payload_bytes = (uint16_t)(SML_HEADER_BYTES + 4 * m->parts.elements),
        .actions = {.ctx = m,
                    .send = send_message,
                    .prepare = prepare,
                    .release = release,
                    .random = random64,
                    .event = report,
                    .tenant_of = tenant_of,
                    .is_taken = is_taken,
                    .moved = moved},
    };
}

struct membership *membership_open(const struct membership_parts *parts)
{
    struct membership *m = calloc(1, sizeof(*m));
    char why[SAVED_WHY_MAX];
    size_t bytes;

    if (m == NULL)
        return NULL;
    m->parts = *parts;
    m->numbers.helper = parts->helper;
    tenants_list(parts->cfg, m->tenant);
    job_lines_init(&m->lines, parts->cfg, secret64());
    m->cfg = registry_config(m);
    bytes = ctl_registry_footprint(&m->cfg);
    m->memory = bytes == 0 ? NULL : aligned_alloc(64, (bytes + 63) / 64 * 64);
    if (m->memory == NULL) {
        free(m);
        return NULL;
    }
    m->before = saved_read(parts->state, &m->cfg, why);
    if (why[0] != '\0')
        parts->log(NULL, why);
    m->begun = membership_ask_to_begin(m);
    return m;
}

bool membership_has_begun(const struct membership *m)
{
    return m->registry != NULL;
}

bool membership_has_failed(const struct membership *m)
{
    return m->failed;
}

void membership_close(struct membership *m)
{
    for (unsigned i = 0; i < AGG_JOBS; i++)
        json_decref(m->numbers.number[i].workers);
    free(m->before);
    free(m->memory);
    free(m);
}

enum ctl_parse_error membership_receive(struct membership *m, const struct ctl_endpoint *from,
                                        const uint8_t *payload, size_t bytes, uint64_t now)
{
    enum ctl_parse_error e;

    m->now = now;
    m->lines.heard = from->ip;
    e = ctl_registry_receive(m->registry, from, payload, bytes, now);
    m->lines.heard = 0;
    membership_keep(m);
    return e;
}

void membership_tick(struct membership *m, uint64_t now)
{
    char text[JOB_LINES_TEXT_MAX];

    m->now = now;
    ctl_registry_tick(m->registry, now);
    if (job_lines_left_out(&m->lines, now, text))
        m->parts.log(NULL, text);
    if (m->unwritten)
        m->kept = 0; /* there may be room now */
    membership_keep(m);
}

static bool change_job(struct membership *m, int tenant, const char *name, uint64_t now,
                       bool (*change)(struct ctl_registry *, int, const char *, uint64_t))
{
    bool done;

    m->now = now;
    done = change(m->registry, tenant, name, now);
    membership_keep(m);
    return done;
}

bool membership_end(struct membership *m, int tenant, const char *name, uint64_t now)
{
    return change_job(m, tenant, name, now, ctl_registry_end);
}

bool membership_drain(struct membership *m, int tenant, const char *name, uint64_t now)
{
    return change_job(m, tenant, name, now, ctl_registry_drain);
}

struct registry_shown membership_shown(const struct membership *m, uint64_t now)
{
    return (struct registry_shown){
        .registry = m->registry, .entries = m->cfg.max_jobs, .tenants = m->tenant, .now = now};
}
