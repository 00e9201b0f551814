#include "operator/common_commands.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "operator/reply.h"

static void end_job(const struct common_host *h, const struct common_job *job, enum registry_host_end how,
                    struct reply *reply)
{
    if (job->fixed)
        reply_fail(reply, REPLY_REFUSED, "nobody joins job %s: it is in the configuration", job->called);
    else if (job->name == NULL || !registry_host_end(h->registry, how, job->tenant, job->name, clock_ns()))
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
            h->reload->running->log_level = (enum config_log_level)level;
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
    char why[REQUEST_TEXT_MAX];
    struct hearing hearing;
    int rc = -1;

    (void)job;
    hearing_begin(&hearing, why);
    if (changes != NULL)
        rc = (is_dry ? registry_reload_would : registry_reload)(h->registry, h->reload, changes);
    hearing_end(&hearing);
    if (rc == 0)
        reply_changes(reply, changes, !is_dry);
    else
        reply_fail(reply, REPLY_REFUSED, "%s", changes == NULL ? "no memory" : why);
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
    reply->view = rc == 0 ? json_pack("{s:s,s:s}", "file", h->reload->file, "configuration", text) : NULL;
    reply->counters = json_array();
    free(text);
    if (reply->view == NULL)
        reply_fail(reply, REPLY_FAILED, "no memory for the answer");
}

const struct common_command common_commands[COMMON_COMMANDS] = {
    {"job drain", true, false, drain_job},      {"job kill", true, false, kill_job},
    {"log level", false, false, set_log_level}, {"reload", false, false, reload},
    {"config", false, true, show_config},
};

const struct common_command *common_command_find(const char *name)
{
    for (unsigned i = 0; i < COMMON_COMMANDS; i++)
        if (strcmp(common_commands[i].name, name) == 0)
            return &common_commands[i];
    return NULL;
}
