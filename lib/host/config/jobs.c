/* What the lists of jobs that nobody joins have in common: their members' addresses and UDP ports, names,
 * kinds of elements; and whether there is room for all of them. */
#include <stdio.h>
#include <string.h>

#include "config/config_parts.h"
#include "config/room.h"
#include "kernels/kernels.h"
#include "protocols.h"
#include "settings/values.h"

/* clang-format off */
const struct setting config_peer_fields[] = {
    {.key = "ip", SETTING_IP, .required = true, SETTING_AT(struct config_peer, ip),
     .meaning = "where its packets come from, and results go to"},
    {.key = "mac", SETTING_MAC, .required = true, SETTING_AT(struct config_peer, mac),
     .meaning = "the same; the router's if there is one between"},
    {.key = "port", SETTING_NUMBER_AT(struct config_peer, port, 1, UINT16_MAX, 4000),
     /* as published clients have it */ .meaning = "its first thread's UDP port; thread `t` has `port` + `t`, and nobody who joins may send from one of them"},
    {.key = NULL},
};
/* clang-format on */

void config_check_peer(struct settings *s, const struct config *c, const char *path, unsigned ports,
                       const struct config_peer *peer)
{
    const char *key = settings_path(s, "%s.port", path);

    if (peer->port > UINT16_MAX + 1 - ports && !settings_are_faulty(s, key))
        settings_fault(s, key, "%u is out of range (1..%u)", peer->port, UINT16_MAX + 1 - ports);
    if (c->has_mac && memcmp(peer->mac, c->mac, sizeof(peer->mac)) == 0)
        settings_fault(s, settings_path(s, "%s.mac", path), "is switch.mac, the switch's own");
    key = settings_path(s, "%s.ip", path);
    if (c->has_ip && peer->ip == c->ip && !settings_are_faulty(s, key))
        settings_fault(s, key, "is switch.ip, the switch's own address");
}

void config_check_name(struct settings *s, const char *list, char *first, size_t stride, unsigned i)
{
    const char *path = settings_path(s, "%s[%u].name", list, i);
    char *name = first + i * stride;

    if (!settings_has(s, path))
        snprintf(name, CONFIG_JOB_MAX, "%s[%u]", list, i);
    for (unsigned other = 0; other < i; other++)
        if (strcmp(first + other * stride, name) == 0)
            settings_fault(s, path, "\"%s\" is the name of %s[%u] already", name, list, other);
}

uint8_t config_find_code(struct settings *s, const char *list, unsigned i)
{
    const char *type_path = settings_path(s, "%s[%u].type", list, i),
               *op_path = settings_path(s, "%s[%u].operation", list, i);
    const char *type_word = settings_text(s, type_path), *op_word = settings_text(s, op_path);
    const unsigned type = type_word == NULL ? AGG_F32 : agg_type_named(type_word),
                   op = op_word == NULL ? AGG_SUM : agg_op_named(op_word);

    if (type == 0)
        settings_fault(s, type_path, "\"%s\" is no type of elements, as float32, bfloat16 and int64 are",
                       type_word);
    if (op == 0)
        settings_fault(s, op_path, "\"%s\" is no operation, as sum, max and avg are", op_word);
    else if (type != 0 && agg_element_size(type, op) == 0)
        settings_fault(s, op_path, "there is no %s of %s", agg_op_name(op), agg_type_name(type));
    return type == 0 || op == 0 || agg_element_size(type, op) == 0 ? 0 : agg_code(type, op);
}

/* A job of the configuration, which nobody joins. */
struct config_job {
    const char *list, *name;
    unsigned place; /* in its list */
    const struct agg_terms *terms;
    unsigned members;
    int tenant;
};

/* Job i of all lists; false: there is none. */
static bool config_job(const struct config *c, unsigned i, struct config_job *job)
{
    const unsigned statics = c->static_jobs, hostaggs = statics + c->hostagg_jobs,
                   clones = hostaggs + c->clone_jobs;

    if (i < statics) {
        const struct config_static *s = &c->static_job[i];

        *job = (struct config_job){"static", s->name, i, &s->terms, s->workers, s->tenant};
    } else if (i < hostaggs) {
        const struct config_hostagg *h = &c->hostagg[i - statics];

        *job = (struct config_job){"hostagg", h->name, i - statics, &h->terms, config_hostagg_members(h),
                                   h->tenant};
    } else if (i < clones) {
        const struct config_clone *k = &c->clone[i - hostaggs];

        *job = (struct config_job){"clone",  k->name, i - hostaggs, &k->terms, k->workers + k->has_collector,
                                   k->tenant};
    } else if (i < clones + c->replays) {
        const struct config_replay *r = &c->replay[i - clones];

        *job = (struct config_job){"replay", "replay", i - clones, &r->terms, r->workers, r->tenant};
    } else if (i == clones + c->replays && c->atp.aggregators > 0) {
        *job = (struct config_job){"atp", "atp", 0, &c->atp.terms, 0, -1};
    } else {
        return false;
    }
    return true;
}

/* What its pool takes; false: a key is out of range, which was reported. */
static bool pool_of(const struct config *c, const struct config_job *job, struct agg_footprint *f)
{
    const struct agg_pool_config pool = {
        .workers = (uint16_t)job->members, .delays = c->pool.delays, .terms = *job->terms};

    return agg_protocol_find(job->terms->protocol)->footprint(&pool, f);
}

/* Nobody would notice if one of the jobs that nobody joins got no pool, so it is checked now that there is
 * room for all of them, in the pool of the switch and in the quotas of their tenants. */
static void check_room(struct settings *s, const struct config *c)
{
    struct room_job running[CONFIG_FIXED_JOBS_MAX];
    struct room room = {.whose = "the switch",
                        .bytes = (uint64_t)c->pool.megabytes << 20,
                        .slots = c->pool.slots,
                        .bytes_a_job = (uint64_t)c->pool.megabytes_per_job << 20,
                        .tenants = c->tenants,
                        .tenant = c->tenant,
                        .job = running};
    char text[AGG_TEXT_MAX];
    struct agg_footprint f;
    struct config_job job;

    if (settings_are_faulty(s, "pool") || settings_are_faulty(s, "tenants"))
        return;
    for (unsigned i = 0; config_job(c, i, &job); i++) {
        if (settings_are_faulty(s, job.list) || !pool_of(c, &job, &f))
            continue;
        running[room.jobs] =
            (struct room_job){.name = job.name, .tenant = job.tenant, .slots = f.slots, .bytes = f.bytes};
        if (!room_for(&room, &running[room.jobs], text)) {
            settings_fault(
                s, strcmp(job.list, "atp") == 0 ? "atp" : settings_path(s, "%s[%u]", job.list, job.place),
                "%s", text);
            return;
        }
        room.held += f.bytes;
        room.jobs++;
    }
}

unsigned config_jobs_of(const struct config *c, unsigned tenant)
{
    struct config_job job;
    unsigned jobs = 0;

    for (unsigned i = 0; config_job(c, i, &job); i++)
        jobs += job.tenant == (int)tenant;
    return jobs;
}

bool config_has_job(const struct config *c, int tenant, const char *name)
{
    const unsigned named = c->static_jobs + c->hostagg_jobs + c->clone_jobs;
    struct config_job job;

    for (unsigned i = 0; i < named && config_job(c, i, &job); i++)
        if (job.tenant == tenant && strcmp(job.name, name) == 0)
            return true;
    return false;
}

/* They always run, so they must fit into the quotas of their tenants. */
static void check_quotas(struct settings *s, const struct config *c)
{
    for (unsigned tenant = 0; tenant < c->tenants; tenant++) {
        const unsigned jobs = config_jobs_of(c, tenant);

        if (c->tenant[tenant].quota.jobs != 0 && jobs > c->tenant[tenant].quota.jobs)
            settings_fault(s, settings_path(s, "tenants[%u].quota.jobs", tenant),
                           "%s has %u jobs in this file, more than the quota of %u: raise it",
                           c->tenant[tenant].name, jobs, c->tenant[tenant].quota.jobs);
    }
}

void config_check_jobs(struct settings *s, const struct config *c)
{
    check_room(s, c);
    check_quotas(s, c);
}
