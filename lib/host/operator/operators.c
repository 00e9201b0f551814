#include "operator/operators.h"

#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "monotonic.h"
#include "operator/common_commands.h"
#include "operator/listener.h"

enum { LOOK_MS = 1000, WORDS_BYTES = 512 };

struct operators {
    struct operators_host host;
    struct listener listener;
    struct server *server;
    pthread_t thread;
    uint64_t looked_at; /* for the history */
    bool stop;          /* atomic */
};

/* What was asked for, as it could be typed: "job kill name=train". */
static void put_words(char words[WORDS_BYTES], const struct request *request)
{
    size_t used = (size_t)snprintf(words, WORDS_BYTES, "%s", request->command);
    const char *key;
    json_t *value;

    json_object_foreach (request->body, key, value) {
        char *text;

        if (strcmp(key, "version") == 0 || strcmp(key, "command") == 0 || used >= WORDS_BYTES)
            continue;
        text = json_is_string(value) ? strdup(json_string_value(value))
                                     : json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
        used += (size_t)snprintf(words + used, WORDS_BYTES - used, " %s=%s", key, text == NULL ? "" : text);
        free(text);
    }
}

static const char *user_name(uid_t user, char text[LOGIN_NAME_MAX])
{
    char room[1024];
    struct passwd entry, *found = NULL;

    if (getpwuid_r(user, &entry, room, sizeof(room), &found) == 0 && found != NULL)
        snprintf(text, LOGIN_NAME_MAX, "%s", found->pw_name);
    else
        snprintf(text, LOGIN_NAME_MAX, "user %u", (unsigned)user);
    return text;
}

/* What was not understood, or only tried, has done nothing. */
static bool is_notable(const struct request *request, const struct reply *reply)
{
    const struct common_command *common = common_command_find(request->command);

    return views_find(request->command) == NULL && (common == NULL || !common->looks) &&
           !json_is_true(json_object_get(request->body, "dry_run")) &&
           (reply->code == REPLY_OK || reply->code == REPLY_REFUSED || reply->code == REPLY_FAILED);
}

static void note(const struct operators *o, uid_t user, const struct request *request,
                 const struct reply *reply)
{
    const char *job = strncmp(request->command, "job ", 4) == 0 ? request_text(request, "name") : NULL;
    char tenant[REQUEST_BYTES_MAX] = "", who[LOGIN_NAME_MAX], words[WORDS_BYTES],
         text[WORDS_BYTES + REQUEST_TEXT_MAX + 16];

    if (!is_notable(request, reply))
        return;
    job = job == NULL ? "" : job;
    if (strchr(job, '/') != NULL) {
        snprintf(tenant, sizeof(tenant), "%.*s", (int)strcspn(job, "/"), job);
        job = strchr(job, '/') + 1;
    }
    put_words(words, request);
    snprintf(text, sizeof(text), "%s%s%s", words,
             reply->code == REPLY_OK ? "" : ": not done: ", reply->code == REPLY_OK ? "" : reply->error);
    history_note(o->host.history,
                 &(struct history_note){HISTORY_OPERATED, job, tenant, user_name(user, who), text});
}

static char *answer(void *context, uid_t user, const char *line, size_t bytes, struct server_feed *feed)
{
    const struct operators *o = context;
    struct reply reply = {.code = REPLY_OK};
    struct request request;
    char why[REQUEST_TEXT_MAX];

    if (request_parse(&request, line, bytes, why) < 0) {
        reply_fail(&reply, REPLY_BAD_REQUEST, "%s", why);
    } else {
        o->host.run(o->host.context, &request, &reply, feed);
        note(o, user, &request, &reply);
        request_free(&request);
    }
    return reply_line(&reply, o->host.name);
}

static void look(struct operators *o)
{
    const uint64_t now = monotonic_ns();

    if (now - o->looked_at < LOOK_MS * NS_PER_MS)
        return;
    o->looked_at = now;
    history_look(o->host.history, &o->host.views);
}

static void *run(void *context)
{
    struct operators *o = context;

    while (!__atomic_load_n(&o->stop, __ATOMIC_RELAXED)) {
        server_round(o->server, o->host.history == NULL ? -1 : LOOK_MS, monotonic_ns);
        look(o);
    }
    return NULL;
}

static int start_thread(struct operators *o)
{
    int rc = server_open(&o->server, o->listener.fd, answer, o);

    if (rc == 0)
        rc = o->host.start_thread == NULL ? -pthread_create(&o->thread, NULL, run, o)
                                          : o->host.start_thread(&o->thread, run, o);
    if (rc < 0) {
        log_error("cannot start the operators' thread: %s", strerror(-rc));
        server_close(o->server);
        listener_remove(&o->listener);
    }
    return rc;
}

int operators_start(struct operators **out, const struct operators_host *host,
                    const struct config_control *cfg)
{
    struct operators *o = cfg->off ? NULL : calloc(1, sizeof(*o));
    int rc;

    *out = NULL;
    if (cfg->off)
        return 0;
    if (o == NULL)
        return -ENOMEM;
    o->host = *host;
    rc = listener_open(&o->listener, cfg, host->name);
    if (rc == 0)
        rc = start_thread(o);
    if (rc < 0) {
        free(o);
        return cfg->path[0] == '\0' ? 0 : rc; /* nobody asked for this one */
    }
    log_notice("swaggctl reaches this %s at %s", host->kind, o->listener.path);
    *out = o;
    return 0;
}

void operators_stop(struct operators *o)
{
    if (o == NULL)
        return;
    __atomic_store_n(&o->stop, true, __ATOMIC_RELAXED);
    server_wake(o->server);
    pthread_join(o->thread, NULL);
    server_close(o->server);
    listener_remove(&o->listener);
    free(o);
}
