#include "saved.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "base/kept_file.h"
#include "base/log.h"
#include "config/config_parts.h"

#define FIELD(type, field)                                                                                   \
    {                                                                                                        \
        .key = #field, SETTING_AT(struct type, field)                                                        \
    }

enum { VERSION = 1, LONGEST = 128 /* bytes of a field */ };

static const struct setting of_job[] = {
    FIELD(ctl_entry, epoch),    FIELD(ctl_entry, restarts), FIELD(ctl_entry, founder),
    FIELD(ctl_entry, size),     FIELD(ctl_entry, present),  FIELD(ctl_entry, number),
    FIELD(ctl_entry, draining), FIELD(ctl_entry, keyed),    FIELD(ctl_entry, roster),
    FIELD(ctl_entry, terms),    FIELD(ctl_entry, secret),   {.key = NULL}};

/* 0 in files of earlier versions, which have none. */
static const struct setting founder_below = FIELD(ctl_entry, founder_below);

static const struct setting of_member[] = {FIELD(ctl_member, state),
                                           FIELD(ctl_member, endpoint.mac),
                                           FIELD(ctl_member, endpoint.ip),
                                           FIELD(ctl_member, endpoint.udp_port),
                                           FIELD(ctl_member, data_port),
                                           FIELD(ctl_member, incarnation),
                                           FIELD(ctl_member, serial),
                                           FIELD(ctl_member, wish),
                                           FIELD(ctl_member, restarts),
                                           FIELD(ctl_member, heartbeat.calls),
                                           {.key = NULL}};

/* Of a static job, beside its settings: what they make. */
static const struct setting fixed_terms = FIELD(config_fixed, terms);

/* --- fields --- */

/* A name, a tenant and workers go by other ways than their bytes. */
static bool is_field(const struct setting *f)
{
    return f->type != SETTING_NAME && f->type != SETTING_LATER && f->type != SETTING_LIST;
}

static json_t *field_json(const struct setting *f, const void *of)
{
    const uint8_t *bytes = (const uint8_t *)of + f->offset;
    char digits[2 * LONGEST + 1];
    uint64_t number = 0;

    if (f->bytes <= sizeof(number)) {
        memcpy(&number, bytes, f->bytes);
        return json_integer((json_int_t)number);
    }
    for (size_t i = 0; i < f->bytes; i++)
        snprintf(&digits[2 * i], 3, "%02x", bytes[i]);
    return json_string(digits);
}

static bool read_field(const struct setting *f, const json_t *from, void *to)
{
    const json_t *value = json_object_get(from, f->key);
    const char *digits = json_string_value(value);
    uint8_t *bytes = (uint8_t *)to + f->offset;
    const uint64_t number = (uint64_t)json_integer_value(value);

    if (f->bytes <= sizeof(number)) {
        memcpy(bytes, &number, f->bytes);
        return json_is_integer(value);
    }
    if (digits == NULL || strlen(digits) != 2 * f->bytes)
        return false;
    for (size_t i = 0; i < f->bytes; i++)
        if (sscanf(&digits[2 * i], "%2hhx", &bytes[i]) != 1)
            return false;
    return true;
}

static json_t *fields_json(const struct setting *f, const void *of)
{
    json_t *object = json_object();

    for (; f->key != NULL; f++)
        if (is_field(f))
            json_object_set_new(object, f->key, field_json(f, of));
    return object;
}

static bool read_fields(const struct setting *f, const json_t *from, void *to)
{
    for (; f->key != NULL; f++)
        if (is_field(f) && !read_field(f, from, to))
            return false;
    return true;
}

/* --- writing --- */

static json_t *member_json(const struct ctl_registry_config *cfg, const struct ctl_member *member)
{
    json_t *object = fields_json(of_member, member);
    const uint16_t key = member->endpoint.key;

    if (key != 0)
        json_object_set_new(object, "key", json_integer((json_int_t)cfg->key[key - 1].key.id));
    return object;
}

static json_t *job_json(const struct ctl_registry_config *cfg, const struct ctl_entry *job)
{
    json_t *object = fields_json(of_job, job);
    json_t *members = json_array();

    json_object_set_new(object, founder_below.key, field_json(&founder_below, job));
    for (unsigned rank = 0; rank < job->size; rank++)
        json_array_append_new(members, member_json(cfg, &job->members[rank]));
    json_object_set_new(object, "name", json_string(job->name));
    json_object_set_new(object, "tenant", json_string(cfg->tenants[job->tenant].name));
    json_object_set_new(object, "members", members);
    return object;
}

static json_t *static_json(const struct config *cfg, const struct config_static *job)
{
    json_t *object = fields_json(config_static_fields, job), *workers = json_array();

    for (unsigned rank = 0; rank < job->common.workers; rank++)
        json_array_append_new(workers, fields_json(config_peer_fields, &job->worker[rank]));
    json_object_set_new(object, fixed_terms.key, field_json(&fixed_terms, &job->common));
    json_object_set_new(object, "name", json_string(job->common.name));
    if (job->common.tenant >= 0)
        json_object_set_new(object, "tenant", json_string(cfg->tenant[job->common.tenant].name));
    json_object_set_new(object, "workers", workers);
    return object;
}

static json_t *added_json(const struct config *cfg)
{
    json_t *jobs = json_array();

    for (unsigned i = 0; i < cfg->static_jobs; i++)
        if (cfg->static_job[i].common.added)
            json_array_append_new(jobs, static_json(cfg, &cfg->static_job[i]));
    return jobs;
}

int saved_write(const char *path, const struct config *configuration, const struct ctl_registry_config *cfg,
                const struct ctl_registry *r)
{
    json_t *jobs = json_array(), *all;
    int rc;

    for (unsigned i = 0; i < cfg->max_jobs; i++)
        if (ctl_registry_entry(r, i)->state == CTL_ENTRY_RUNNING)
            json_array_append_new(jobs, job_json(cfg, ctl_registry_entry(r, i)));
    all = json_pack("{s:i,s:I,s:I,s:o,s:o}", "version", VERSION, "boot_id", (json_int_t)cfg->boot_id,
                    "lost_after_ns", (json_int_t)cfg->lost_after_ns, "jobs", jobs, "added",
                    added_json(configuration));
    rc = kept_file_write(path, all, JSON_COMPACT);
    json_decref(all);
    return rc;
}

/* --- reading --- */

/* False: the key that the member has is not in the configuration. */
static bool read_key(const struct ctl_registry_config *cfg, const json_t *from, struct ctl_member *member)
{
    const json_t *id = json_object_get(from, "key");

    if (id == NULL)
        return true;
    for (unsigned i = 0; i < cfg->keys && member->endpoint.key == 0; i++)
        if (cfg->key[i].tenant != CTL_NO_KEY && cfg->key[i].key.id == (uint64_t)json_integer_value(id))
            member->endpoint.key = (uint16_t)(i + 1);
    return member->endpoint.key != 0;
}

static int tenant_named(const struct ctl_registry_config *cfg, const char *name)
{
    for (unsigned i = 0; name != NULL && i < cfg->tenants_known; i++)
        if (strcmp(cfg->tenants[i].name, name) == 0)
            return (int)i;
    return -1;
}

/* Of those that have left, the one that did after the fewest collectives. */
static void find_first_left(struct ctl_entry *job)
{
    for (unsigned rank = 0; rank < job->size; rank++) {
        const struct ctl_member *member = &job->members[rank];

        if (member->state == CTL_MEMBER_LEFT &&
            (job->first_left == NULL ||
             (int32_t)(member->heartbeat.calls - job->first_left->heartbeat.calls) < 0))
            job->first_left = member;
    }
}

static bool read_job(const struct ctl_registry_config *cfg, const json_t *from, struct saved_job *job)
{
    const json_t *members = json_object_get(from, "members");
    const char *name = json_string_value(json_object_get(from, "name"));
    struct ctl_entry *entry = &job->entry;

    if (!read_fields(of_job, from, entry) || name == NULL || strlen(name) >= sizeof(entry->name) ||
        entry->size > TOFINO_MAX_WORKERS || json_array_size(members) != entry->size)
        return false;
    read_field(&founder_below, from, entry);
    strcpy(entry->name, name);
    entry->members = job->member;
    entry->state = CTL_ENTRY_RUNNING;
    entry->tenant = tenant_named(cfg, json_string_value(json_object_get(from, "tenant")));
    entry->protocol = ctl_registry_protocol(cfg, entry->terms.protocol);
    for (unsigned rank = 0; rank < entry->size; rank++) {
        const json_t *member = json_array_get(members, rank);

        if (!read_fields(of_member, member, &job->member[rank]) || !read_key(cfg, member, &job->member[rank]))
            return false;
    }
    find_first_left(entry);
    return entry->tenant >= 0 && entry->protocol != NULL;
}

/* alone: all zero. */
static bool read_static(const json_t *from, struct config *alone)
{
    struct config_static *job = &alone->static_job[0];
    const json_t *workers = json_object_get(from, "workers");
    const char *name = json_string_value(json_object_get(from, "name")),
               *tenant = json_string_value(json_object_get(from, "tenant"));
    size_t rank;
    json_t *worker;

    alone->static_jobs = 1;
    job->common.added = true;
    job->common.tenant = tenant == NULL ? -1 : 0;
    job->common.workers = (unsigned)json_array_size(workers);
    if (!read_fields(config_static_fields, from, job) || !read_field(&fixed_terms, from, &job->common) ||
        name == NULL || strlen(name) >= sizeof(job->common.name) || job->common.workers > TOFINO_MAX_WORKERS)
        return false;
    json_array_foreach (workers, rank, worker)
        if (!read_fields(config_peer_fields, worker, &job->worker[rank]))
            return false;
    strcpy(job->common.name, name);
    if (tenant != NULL)
        snprintf(alone->tenant[0].name, sizeof(alone->tenant[0].name), "%s", tenant);
    return true;
}

void saved_take_added(const char *path, struct config *configuration)
{
    json_t *all = json_load_file(path, 0, NULL), *one;
    struct config *alone = malloc(sizeof(*alone));
    size_t i;

    json_array_foreach (json_object_get(all, "added"), i, one) {
        if (alone == NULL)
            break;
        memset(alone, 0, sizeof(*alone));
        if (!read_static(one, alone))
            log_warning("%s: a job that an operator has added cannot be read", path);
        else if (config_take_added(configuration, alone) < 0)
            log_warning(
                "job %s, which an operator has added, ends: the configuration has no place for it now",
                alone->static_job[0].common.name);
    }
    free(alone);
    json_decref(all);
}

static struct saved *read_jobs(const struct ctl_registry_config *cfg, const json_t *all)
{
    const json_t *jobs = json_object_get(all, "jobs");
    const size_t n = json_array_size(jobs);
    struct saved *saved = calloc(1, sizeof(*saved) + n * sizeof(saved->job[0]));

    if (saved == NULL)
        return NULL;
    saved->boot_id = (uint64_t)json_integer_value(json_object_get(all, "boot_id"));
    for (size_t i = 0; i < n; i++) {
        struct saved_job *job = &saved->job[saved->jobs];
        const json_t *from = json_array_get(jobs, i);
        const char *name = json_string_value(json_object_get(from, "name"));

        if (read_job(cfg, from, job)) {
            saved->jobs++;
            continue;
        }
        log_notice("job %s: cannot go on: its tenant, or the key of one of its members, is not in the "
                   "configuration any more",
                   name != NULL ? name : "without a name");
        memset(job, 0, sizeof(*job));
        saved->left_out++;
    }
    return saved;
}

struct saved *saved_read(const char *path, const struct ctl_registry_config *cfg, char why[SAVED_WHY_MAX])
{
    json_error_t error;
    json_t *all = json_load_file(path, 0, &error);
    struct saved *saved = NULL;

    why[0] = '\0';
    if (all == NULL && access(path, F_OK) == 0)
        snprintf(why, SAVED_WHY_MAX, "%s is not what swagg-tofino has written: %s", path, error.text);
    else if (all != NULL && (json_integer_value(json_object_get(all, "version")) != VERSION ||
                             json_integer_value(json_object_get(all, "boot_id")) == 0))
        snprintf(why, SAVED_WHY_MAX, "%s is another version's", path);
    else if (all != NULL &&
             (uint64_t)json_integer_value(json_object_get(all, "lost_after_ns")) != cfg->lost_after_ns)
        snprintf(why, SAVED_WHY_MAX,
                 "timers.lost_after_ms is another than before, when the jobs' workers were told of it");
    else if (all != NULL)
        saved = read_jobs(cfg, all);
    json_decref(all);
    return saved;
}
