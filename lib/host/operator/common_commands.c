#include "operator/common_commands.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "monotonic.h"
#include "operator/reply.h"
#include "registry/registry_reserve.h"

enum {
    RESERVE_SLOTS = 1024, /* as many as libswagg asks for */
    RESERVE_SLOTS_MOST = 1 << 16,
    RESERVE_S = 600,
    RESERVE_S_MOST = 366 * 24 * 3600
};

static void end_job(const struct common_host *h, const struct common_job *job, enum registry_host_end how,
                    struct reply *reply)
{
    if (job->fixed)
        reply_fail(
            reply, REPLY_REFUSED,
            "nobody joins job %s: take it out of the configuration and reload, or if it was added by job "
            "add: job del %s",
            job->called, job->called);
    else if (job->name == NULL ||
             !registry_host_end(h->registry, how, job->tenant, job->name, monotonic_ns()))
        reply_fail(reply, REPLY_REFUSED, "job %s is over already", job->called);
}

static void drain_job(const struct common_host *h, const struct common_job *job,
                      const struct request *request, struct reply *reply)
{
    (void)request;
    end_job(h, job, REGISTRY_HOST_DRAIN, reply);
}

static void kill_job(const struct common_host *h, const struct common_job *job, const struct request *request,
                     struct reply *reply)
{
    (void)request;
    end_job(h, job, REGISTRY_HOST_KILL, reply);
}

/* A reload then says that it changes it. */
static void set_log_level(const struct common_host *h, const struct common_job *job,
                          const struct request *request, struct reply *reply)
{
    const char *wanted = request_text(request, "level");

    (void)job;
    for (enum log_level level = 0; level < LOG_LEVELS; level++)
        if (wanted != NULL && strcmp(wanted, log_level_name(level)) == 0) {
            log_set_level(level);
            h->reload->running->log_level = level;
            log_line(level, "log level set to %s by the operator", log_level_name(level));
            return;
        }
    reply_fail(reply, REPLY_BAD_REQUEST, "%s is no log level; there are: error, warning, notice, info, debug",
               wanted == NULL ? "nothing" : wanted);
}

static void reload(const struct common_host *h, const struct common_job *job, const struct request *request,
                   struct reply *reply)
{
    const bool is_dry = json_is_true(json_object_get(request->body, "dry_run"));
    struct settings_changes *changes = malloc(sizeof(*changes));
    struct hearing hearing;
    int rc = -1;

    (void)job;
    hearing_begin(&hearing);
    if (changes != NULL)
        rc = (is_dry ? registry_reload_would : registry_reload)(h->registry, h->reload, changes);
    hearing_end(&hearing, rc == 0, reply);
    if (rc == 0)
        reply_changes(reply, changes, !is_dry);
    else if (changes == NULL)
        reply_fail(reply, REPLY_REFUSED, "no memory");
    free(changes);
}

static void show_config(const struct common_host *h, const struct common_job *job,
                        const struct request *request, struct reply *reply)
{
    char *text = NULL;
    size_t bytes;
    FILE *to = open_memstream(&text, &bytes);
    int rc = to == NULL ? -1 : config_write(to, h->reload->running);

    (void)job;
    (void)request;
    if (to != NULL)
        rc |= fclose(to);
    reply->view = rc == 0 ? json_pack("{s:o,s:o}", "file", view_json_text(h->reload->file), "configuration",
                                      view_json_text(text))
                          : NULL;
    reply->counters = json_array();
    free(text);
    if (reply->view == NULL)
        reply_fail(reply, REPLY_FAILED, "no memory for the answer");
}

/* Fills in number, where the settings have one. False: it is out of range; the reply says so. */
static bool take_number(json_t *settings, const char *key, uint32_t most, uint32_t *number,
                        struct reply *reply)
{
    const json_t *value = json_object_get(settings, key);

    if (value == NULL)
        return true;
    if (!json_is_number(value) || !request_is_whole(json_number_value(value), 1, most))
        return reply_fail(reply, REPLY_BAD_REQUEST, "%s: 1 to %u", key, most);
    *number = (uint32_t)json_number_value(value);
    return true;
}

static bool take_text(json_t *settings, const char *key, const char *otherwise, char text[CONFIG_JOB_MAX],
                      struct reply *reply)
{
    const json_t *value = json_object_get(settings, key);
    const char *said = value == NULL ? otherwise : json_string_value(value);
    bool good = said != NULL && strlen(said) < CONFIG_JOB_MAX;

    for (const char *c = said; good && *c != '\0'; c++)
        good = *c > ' ' && *c != 0x7f;
    if (!good)
        return reply_fail(reply, REPLY_BAD_REQUEST, "%s: a text to %d characters without spaces", key,
                          CONFIG_JOB_MAX - 1);
    snprintf(text, CONFIG_JOB_MAX, "%s", said);
    return true;
}

/* Where there is one tenant it need not be named. */
static bool take_tenant(const struct config *cfg, json_t *settings, int *tenant, struct reply *reply)
{
    char name[CONFIG_JOB_MAX];

    *tenant = cfg->tenants == 1 ? 0 : -1;
    if (json_object_get(settings, "tenant") == NULL && *tenant == 0)
        return true;
    if (!take_text(settings, "tenant", "", name, reply))
        return false;
    if (name[0] == '\0')
        return reply_fail(reply, REPLY_BAD_REQUEST, "whose jobs? Say tenant=NAME");
    *tenant = config_find(cfg, "tenants", name);
    return *tenant >= 0 || reply_fail(reply, REPLY_BAD_REQUEST, "no tenant is called %s", name);
}

static bool knows_all(json_t *settings, struct reply *reply)
{
    static const char *const known[] = {"tenant", "ranks", "slots", "job", "for"};
    const char *key;
    json_t *value;

    json_object_foreach (settings, key, value) {
        bool is_known = false;

        for (unsigned i = 0; i < sizeof(known) / sizeof(known[0]); i++)
            is_known |= strcmp(key, known[i]) == 0;
        if (!is_known)
            return reply_fail(reply, REPLY_BAD_REQUEST,
                              "%s is nothing of a reservation: there are tenant, ranks, slots, job, for",
                              key);
    }
    return true;
}

static void reserve(const struct common_host *h, const struct common_job *job, const struct request *request,
                    struct reply *reply)
{
    json_t *settings = json_object_get(request->body, "settings");
    struct reservation r = {.slots = RESERVE_SLOTS};
    uint32_t seconds = RESERVE_S;
    char why[AGG_TEXT_MAX];
    bool done;

    (void)job;
    if (!take_text(request->body, "job", NULL, r.name, reply) || !knows_all(settings, reply) ||
        !take_tenant(h->reload->running, settings, &r.tenant, reply) ||
        !take_text(settings, "job", r.name, r.pattern, reply) ||
        !take_number(settings, "ranks", CTL_RANKS_MAX, &r.ranks, reply) ||
        !take_number(settings, "slots", RESERVE_SLOTS_MOST, &r.slots, reply) ||
        !take_number(settings, "for", RESERVE_S_MOST, &seconds, reply))
        return;
    registry_host_enter(h->registry, 0, monotonic_ns());
    done = registry_reserve(h->registry, &r, seconds, why);
    registry_host_leave(h->registry);
    if (!done)
        reply_fail(reply, REPLY_REFUSED, "%s: %s", r.name, why);
}

static void release(const struct common_host *h, const struct common_job *job, const struct request *request,
                    struct reply *reply)
{
    char name[CONFIG_JOB_MAX];
    int kept = 0;
    bool any;

    (void)job;
    if (!take_text(request->body, "job", NULL, name, reply))
        return;
    registry_host_enter(h->registry, 0, monotonic_ns());
    any = registry_release(h->registry, name, &kept);
    registry_host_leave(h->registry);
    if (!any)
        reply_fail(reply, REPLY_UNKNOWN, "there is no reservation %s: swaggctl reserved lists them", name);
    else if (kept < 0)
        reply_fail(
            reply, REPLY_REFUSED,
            "%s is released, but %.80s (state) could not be written: %s: until its time is over the next "
            "start has it again; mend that, and reserve and release it once more",
            name, h->registry->parts.cfg->state, strerror(-kept));
}

const struct common_command common_commands[COMMON_COMMANDS] = {
    {"job drain", true, false, drain_job},      {"job kill", true, false, kill_job},
    {"log level", false, false, set_log_level}, {"reload", false, false, reload},
    {"config", false, true, show_config},       {"job reserve", false, false, reserve},
    {"job release", false, false, release},
};

const struct common_command *common_command_find(const char *name)
{
    for (unsigned i = 0; i < COMMON_COMMANDS; i++)
        if (strcmp(common_commands[i].name, name) == 0)
            return &common_commands[i];
    return NULL;
}
