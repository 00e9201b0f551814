#include "membership.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/secret.h"
#include "switchml/terms.h"
#include "terms.h"

enum { SLOTS_MIN = 8 /* a job with fewer would wait for its results most of the time */ };

/* What a job number is used for. */
enum use {
    USE_NONE,
    USE_OPENING,  /* the helper is at it */
    USE_UNWANTED, /* the same, but nobody waits for it any more */
    USE_OPEN,
    USE_CLOSING
};

struct number {
    enum use use;
    uint64_t asked; /* the request that is to be answered */
    uint64_t preparation;
    uint64_t freed_at; /* counts ends of jobs */
    struct agg_terms terms;
    json_t *workers;
};

struct membership {
    struct membership_parts parts;
    struct ctl_tenant tenant[CONFIG_TENANTS_MAX];
    struct number number[AGG_JOBS];
    uint64_t ends;
    struct ctl_registry *registry;
};

/* --- the helper
 * --------------------------------------------------------------------------------------------------- */

static json_t *workers_of(const struct ctl_entry *job)
{
    json_t *list = json_array();

    for (uint16_t rank = 0; rank < job->size; rank++) {
        const struct ctl_member *w = &job->members[rank];
        uint64_t mac = 0;

        for (unsigned i = 0; i < sizeof(w->endpoint.mac); i++)
            mac = mac << 8 | w->endpoint.mac[i];
        json_array_append_new(list, json_pack("{s:I,s:i,s:I}", "ip", (json_int_t)ntohl(w->endpoint.ip),
                                              "port", w->data_port, "mac", (json_int_t)mac));
    }
    return list;
}

static uint64_t ask_to_open(struct membership *m, unsigned number)
{
    const struct number *n = &m->number[number];
    struct sml_terms t;

    if (!sml_terms_parse(&t, &n->terms))
        return 0;
    return helper_ask(m->parts.helper,
                      json_pack("{s:s,s:i,s:i,s:i,s:I,s:O}", "do", "open", "number", (int)number, "elements",
                                t.chunk_bytes / 4, "slots", t.slots, "first_tag", (json_int_t)t.first_tag,
                                "workers", n->workers));
}

static void close_number(struct membership *m, unsigned number)
{
    m->number[number].use = USE_CLOSING;
    m->number[number].asked =
        helper_ask(m->parts.helper, json_pack("{s:s,s:i}", "do", "close", "number", (int)number));
}

static void free_number(struct membership *m, struct number *n)
{
    json_decref(n->workers);
    *n = (struct number){.freed_at = ++m->ends};
}

/* --- what the registry asks for
 * ------------------------------------------------------------------------------------ */

static void send_message(void *context, const struct ctl_endpoint *to, const uint8_t *payload, size_t bytes)
{
    const struct membership *m = context;

    m->parts.send(m->parts.context, to, payload, bytes);
}

/* Of those that are free, and that the job has not had, the one that has been free for longest. -1: none. */
static int choose_number(const struct membership *m, const struct ctl_entry *job)
{
    int best = -1;

    for (int i = 0; i < AGG_JOBS; i++)
        if (m->number[i].use == USE_NONE && !ctl_entry_had_number(job, (uint8_t)i) &&
            (best < 0 || m->number[i].freed_at < m->number[best].freed_at))
            best = i;
    return best;
}

static int prepare(void *context, const struct ctl_entry *job, struct agg_terms *terms, uint8_t *number,
                   char text[CTL_TEXT_MAX])
{
    struct membership *m = context;
    const int chosen = choose_number(m, job);
    struct number *n = &m->number[chosen < 0 ? 0 : chosen];
    struct sml_terms t;

    if (chosen < 0) {
        snprintf(text, CTL_TEXT_MAX, "all %d job numbers are taken", AGG_JOBS);
        return -EMFILE;
    }
    while (sml_terms_parse(&t, terms) && t.slots > m->parts.cfg->pool.slots_per_job &&
           tofino_protocol.lower(terms))
        ;
    *number = (uint8_t)chosen;
    *n = (struct number){
        .use = USE_OPENING, .preparation = job->preparation, .terms = *terms, .workers = workers_of(job)};
    n->asked = ask_to_open(m, (unsigned)chosen);
    return CTL_LATER;
}

static void release(void *context, const struct ctl_entry *job)
{
    struct membership *m = context;

    for (unsigned i = 0; i < AGG_JOBS; i++)
        if (m->number[i].use == USE_OPENING && m->number[i].preparation == job->preparation)
            m->number[i].use = USE_UNWANTED;
    if (job->state == CTL_ENTRY_RUNNING && m->number[job->number].use == USE_OPEN)
        close_number(m, job->number);
}

static uint64_t random64(void *context)
{
    (void)context;
    return secret64();
}

static void report(void *context, const struct ctl_entry *job, const char *what)
{
    const struct membership *m = context;

    m->parts.log(job->name, what);
}

static int tenant_of(void *context, const struct ctl_endpoint *from, int key, const char *name,
                     char text[CTL_TEXT_MAX])
{
    const struct membership *m = context;
    const int tenant = config_tenant_of(m->parts.cfg, from->ip, key, name);

    if (tenant < 0)
        snprintf(text, CTL_TEXT_MAX, "none of the switch's tenants has this address and jobs of this name");
    return tenant;
}

/* --- answers
 * ------------------------------------------------------------------------------------------------------ */

/* Fewer slots, where there was no room for so many. False: they are as few as they may be. */
static bool try_fewer(struct membership *m, unsigned number)
{
    struct number *n = &m->number[number];
    struct sml_terms t;

    if (!sml_terms_parse(&t, &n->terms) || t.slots <= SLOTS_MIN || !tofino_protocol.lower(&n->terms))
        return false;
    n->asked = ask_to_open(m, number);
    return true;
}

static void opened(struct membership *m, unsigned number, const char *error, uint64_t now)
{
    struct number *n = &m->number[number];
    struct ctl_prepared p = {
        .result = error == NULL ? 0 : -ENOSPC, .terms = n->terms, .number = (uint8_t)number};
    const uint64_t preparation = n->preparation;

    if (error != NULL) {
        if (n->use == USE_OPENING && try_fewer(m, number))
            return;
        snprintf(p.text, sizeof(p.text), "%s", error);
        free_number(m, n);
    } else if (n->use == USE_UNWANTED) {
        close_number(m, number);
        return;
    } else {
        n->use = USE_OPEN;
    }
    ctl_registry_prepared(m->registry, preparation, &p, now);
}

void membership_answered(struct membership *m, uint64_t id, const char *error, uint64_t now)
{
    for (unsigned i = 0; i < AGG_JOBS; i++) {
        struct number *n = &m->number[i];

        if (n->asked != id || n->use == USE_NONE || n->use == USE_OPEN)
            continue;
        if (n->use == USE_CLOSING && error == NULL)
            free_number(m, n);
        else if (n->use == USE_CLOSING)
            m->parts.log("(ended)", error); /* its number is not used again */
        else
            opened(m, i, error, now);
        return;
    }
}

/* --- life
 * ---------------------------------------------------------------------------------------------------------
 */

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
        .payload_bytes = (uint16_t)(SML_HEADER_BYTES + 4 * m->parts.elements),
        .actions = {.ctx = m,
                    .send = send_message,
                    .prepare = prepare,
                    .release = release,
                    .random = random64,
                    .event = report,
                    .tenant_of = tenant_of},
    };
}

struct membership *membership_open(const struct membership_parts *parts)
{
    struct membership *m = calloc(1, sizeof(*m));
    struct ctl_registry_config cfg;
    size_t bytes;
    void *mem;

    if (m == NULL)
        return NULL;
    m->parts = *parts;
    for (unsigned i = 0; i < parts->cfg->tenants; i++)
        m->tenant[i] = (struct ctl_tenant){.name = parts->cfg->tenant[i].name,
                                           .jobs = (uint16_t)parts->cfg->tenant[i].quota.jobs};
    cfg = registry_config(m);
    bytes = ctl_registry_footprint(&cfg);
    mem = bytes == 0 ? NULL : aligned_alloc(64, (bytes + 63) / 64 * 64);
    if (mem == NULL) {
        free(m);
        return NULL;
    }
    m->registry = ctl_registry_init(mem, &cfg);
    return m;
}

void membership_close(struct membership *m)
{
    for (unsigned i = 0; i < AGG_JOBS; i++)
        json_decref(m->number[i].workers);
    free(m->registry);
    free(m);
}

void membership_receive(struct membership *m, const struct ctl_endpoint *from, const uint8_t *payload,
                        size_t bytes, uint64_t now)
{
    ctl_registry_receive(m->registry, from, payload, bytes, now);
}

void membership_tick(struct membership *m, uint64_t now)
{
    ctl_registry_tick(m->registry, now);
}
