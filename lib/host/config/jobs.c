/* What the lists of jobs that nobody joins have in common: their members' addresses and UDP ports, names,
 * kinds of elements; and whether there is room for all of them. */
#include <arpa/inet.h>
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

unsigned *config_count(const struct config *c, const struct config_jobs_list *list)
{
    return (unsigned *)((char *)c + list->jobs);
}

struct config_fixed *config_fixed(const struct config *c, const struct config_jobs_list *list, unsigned place)
{
    return (struct config_fixed *)((char *)c + list->first + place * list->stride);
}

void config_check_fixed(struct settings *s, struct config *c, const struct config_jobs_list *list,
                        unsigned place, bool with_address)
{
    struct config_fixed *job = config_fixed(c, list, place);

    job->network =
        config_find_network(s, c, settings_path(s, "%s[%u].vlan", list->key, place), job->vlan, with_address);
    job->tenant = config_find_tenant(s, c, settings_path(s, "%s[%u].tenant", list->key, place));
}

int config_find_same(const struct config_open_list *open, const struct config_fixed *job, unsigned worker,
                     const struct config_fixed *other, unsigned workers)
{
    for (unsigned w = 0; w < workers && other->network == job->network; w++)
        if (open->same(job, worker, other, w))
            return (int)w;
    return -1;
}

void config_check_distinct(struct settings *s, const struct config *c, const struct config_jobs_list *list,
                           unsigned place, unsigned worker, const char *path)
{
    const struct config_fixed *job = config_fixed(c, list, place);
    char words[CONFIG_WORDS_MAX];

    for (unsigned i = 0; i <= place; i++) {
        const struct config_fixed *other = config_fixed(c, list, i);
        const int same =
            config_find_same(list->open, job, worker, other, i < place ? other->workers : worker);

        if (same >= 0) {
            list->open->words(words, job, worker);
            settings_fault(s, path, "%s %s[%u].workers[%d]'s, too%s", words, list->key, i, same,
                           list->open->remedy);
            return;
        }
    }
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

/* One of the terms, as their protocol has it in words. */
static void show_term(char text[SETTING_SHOWN_MAX], const struct agg_terms *terms, const char *name)
{
    const struct agg_protocol *protocol = agg_protocol_find(terms->protocol);
    struct agg_term list[AGG_LISTED_TERMS];
    const unsigned n = protocol != NULL ? protocol->list(terms, list) : 0;

    snprintf(text, SETTING_SHOWN_MAX, "-");
    for (unsigned i = 0; i < n; i++)
        if (strcmp(list[i].name, name) == 0)
            snprintf(text, SETTING_SHOWN_MAX, "%s", list[i].word);
}

void config_show_type(char text[SETTING_SHOWN_MAX], const void *configuration, const void *terms)
{
    (void)configuration;
    show_term(text, terms, "type");
}

void config_show_operation(char text[SETTING_SHOWN_MAX], const void *configuration, const void *terms)
{
    (void)configuration;
    show_term(text, terms, "operation");
}

/* Replayed ones come first: their numbers on the wire depend on it. */
const struct config_jobs_list *const config_jobs_lists[] = {&config_replay_jobs,
                                                            &config_static_jobs,
                                                            &config_hostagg_jobs,
                                                            &config_clone_jobs,
                                                            &config_roce_jobs,
                                                            &config_atp_jobs,
                                                            NULL};

static unsigned jobs_in(const struct config *c, const struct config_jobs_list *list)
{
    const unsigned n = *config_count(c, list);

    return list->alone ? n > 0 : n;
}

/* Completes the name ("static[1]" unless given), and reports one that an earlier job has: in any of the
 * lists, for who looks at a job or ends it has one name for all of them. */
static void check_name(struct settings *s, const struct config *c, const struct config_jobs_list *list,
                       unsigned i)
{
    const char *path = settings_path(s, "%s[%u].name", list->key, i);
    const struct config_jobs_list *earlier;
    char *name = config_fixed(c, list, i)->name;

    if (!settings_has(s, path))
        snprintf(name, CONFIG_JOB_MAX, "%s[%u]", list->key, i);
    for (unsigned l = 0; (earlier = config_jobs_lists[l]) != NULL; l++) {
        const unsigned jobs = earlier == list ? i : jobs_in(c, earlier);

        for (unsigned other = 0; earlier->check != NULL && other < jobs; other++)
            if (strcmp(config_fixed(c, earlier, other)->name, name) == 0)
                settings_fault(s, path, "\"%s\" is the name of %s[%u] already", name, earlier->key, other);
        if (earlier == list)
            return;
    }
}

static void check_list(struct settings *s, struct config *c, const struct config_jobs_list *list)
{
    const unsigned jobs = jobs_in(c, list);

    if (list->addressed && jobs > 0 && !c->has_ip && !settings_are_faulty(s, "switch.ip"))
        settings_fault(s, list->key, "needs switch.ip, the address that the packets are sent to");
    for (unsigned i = 0; i < jobs; i++) {
        struct config_fixed *job = config_fixed(c, list, i);

        check_name(s, c, list, i);
        if (list->starts_over && job->quiet_ms == 0)
            job->quiet_ms = c->timers.lost_after_ms;
        list->check(s, c, i);
    }
}

void config_check_lists(struct settings *s, struct config *c)
{
    for (unsigned l = 0; config_jobs_lists[l] != NULL; l++)
        if (config_jobs_lists[l]->check != NULL)
            check_list(s, c, config_jobs_lists[l]);
}

unsigned config_jobs(const struct config *c)
{
    unsigned n = 0;

    for (unsigned l = 0; config_jobs_lists[l] != NULL; l++)
        n += jobs_in(c, config_jobs_lists[l]);
    return n;
}

static void describe_fixed(const struct config_fixed *fixed, struct config_job *job)
{
    job->name = fixed->name;
    job->terms = &fixed->terms;
    job->tenant = fixed->tenant;
    job->network = fixed->network;
    job->members = fixed->workers;
    job->quiet_ms = fixed->quiet_ms;
}

struct config_job config_job(const struct config *c, unsigned i)
{
    const struct config_jobs_list *const *list = config_jobs_lists;
    struct config_job job = {.number = -1};

    for (; i >= jobs_in(c, *list); list++)
        i -= jobs_in(c, *list);
    job.list = (*list)->key;
    job.place = i;
    job.alone = (*list)->alone;
    job.may_change = (*list)->open != NULL;
    job.is_named = (*list)->title == NULL;
    job.name = (*list)->title;
    if ((*list)->stride > 0)
        describe_fixed(config_fixed(c, *list, i), &job);
    (*list)->job(c, i, &job);
    return job;
}

unsigned config_job_number(const struct config *c, const char *list, unsigned place)
{
    unsigned n = place;

    for (unsigned l = 0; strcmp(config_jobs_lists[l]->key, list) != 0; l++)
        n += jobs_in(c, config_jobs_lists[l]);
    return n;
}

struct config_member config_job_member(const struct config *c, const struct config_job *job, unsigned rank)
{
    const struct config_jobs_list *const *list = config_jobs_lists;

    while (strcmp((*list)->key, job->list) != 0)
        list++;
    return (*list)->member(c, job->place, rank);
}

struct config_member config_member_of(const struct config_peer *peer)
{
    struct config_member m = {.port = htons((uint16_t)peer->port), .ip = peer->ip};

    memcpy(m.mac, peer->mac, sizeof(m.mac));
    return m;
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
    const unsigned jobs = config_jobs(c);
    char text[AGG_TEXT_MAX];
    struct agg_footprint f;

    if (settings_are_faulty(s, "pool") || settings_are_faulty(s, "tenants"))
        return;
    for (unsigned i = 0; i < 2 * jobs; i++) { /* those with names first */
        const struct config_job job = config_job(c, i % jobs);

        if (job.is_named != (i < jobs) || settings_are_faulty(s, job.list) || !pool_of(c, &job, &f))
            continue;
        running[room.jobs] =
            (struct room_job){.name = job.name, .tenant = job.tenant, .slots = f.slots, .bytes = f.bytes};
        if (!room_for(&room, &running[room.jobs], text)) {
            settings_fault(s, job.alone ? job.list : settings_path(s, "%s[%u]", job.list, job.place), "%s",
                           text);
            return;
        }
        room.held += f.bytes;
        room.jobs++;
    }
}

unsigned config_jobs_of(const struct config *c, unsigned tenant)
{
    unsigned jobs = 0;

    for (unsigned i = 0; i < config_jobs(c); i++)
        jobs += config_job(c, i).tenant == (int)tenant;
    return jobs;
}

bool config_has_job(const struct config *c, int tenant, const char *name)
{
    for (unsigned i = 0; i < config_jobs(c); i++) {
        const struct config_job job = config_job(c, i);

        if (job.is_named && job.tenant == tenant && strcmp(job.name, name) == 0)
            return true;
    }
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
