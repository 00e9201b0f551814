#include "operator/reply.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const code_names[REPLY_CODES] = {
    [REPLY_OK] = "ok",           [REPLY_BAD_REQUEST] = "bad_request",
    [REPLY_UNKNOWN] = "unknown", [REPLY_AMBIGUOUS] = "ambiguous",
    [REPLY_REFUSED] = "refused", [REPLY_FAILED] = "failed",
};

static void drop_view(struct reply *reply)
{
    json_decref(reply->view);
    json_decref(reply->counters);
    json_decref(reply->choices);
    reply->view = reply->counters = reply->choices = NULL;
}

bool reply_fail(struct reply *reply, enum reply_code code, const char *format, ...)
{
    va_list args;

    drop_view(reply);
    reply->code = code;
    va_start(args, format);
    vsnprintf(reply->error, sizeof(reply->error), format, args);
    va_end(args);
    return false;
}

void reply_fault(void *reply, const char *message)
{
    struct reply *r = reply;

    if (r->code == REPLY_OK)
        reply_fail(r, REPLY_REFUSED, "%s", message);
}

void reply_view(struct reply *reply, struct view_out *out)
{
    if (view_end(out, &reply->view, &reply->counters) == 0)
        return;
    reply->view = reply->counters = NULL;
    reply_fail(reply, REPLY_FAILED, "no memory for the answer");
}

char *reply_line(struct reply *reply, const char *daemon)
{
    const bool ok = reply->code == REPLY_OK;
    json_t *answer =
        json_pack("{s:i, s:o, s:b}", "version", REQUEST_VERSION, "switch", view_json_text(daemon), "ok", ok);
    char *text, *line = NULL;

    if (!ok) {
        json_object_set_new(answer, "code", json_string(code_names[reply->code]));
        json_object_set_new(answer, "error", view_json_text(reply->error));
        if (reply->choices != NULL)
            json_object_set(answer, "choices", reply->choices);
    } else if (reply->view != NULL) {
        json_object_set(answer, "counters", reply->counters);
        json_object_set(answer, "view", reply->view);
    }
    text = json_dumps(answer, JSON_COMPACT);
    json_decref(answer);
    drop_view(reply);
    if (text != NULL && asprintf(&line, "%s\n", text) < 0)
        line = NULL;
    free(text);
    return line;
}

bool operator_mac_read(const struct request *request, uint8_t mac[OPERATOR_MAC_BYTES], struct reply *reply)
{
    const char *text = request_text(request, "mac");
    int end = 0;

    if (text != NULL &&
        sscanf(text, "%2hhx:%2hhx:%2hhx:%2hhx:%2hhx:%2hhx%n", &mac[0], &mac[1], &mac[2], &mac[3], &mac[4],
               &mac[5], &end) == OPERATOR_MAC_BYTES &&
        text[end] == '\0')
        return true;
    return reply_fail(reply, REPLY_BAD_REQUEST, "%s is no MAC address, such as 02:00:00:00:00:01",
                      text == NULL ? "nothing" : text);
}

void reply_changes(struct reply *reply, const struct settings_changes *changes, bool done)
{
    const char *const when[SETTING_WHENS] = {[SETTING_AT_ONCE] = "now",
                                             [SETTING_NEW_JOBS] = "new jobs",
                                             [SETTING_WHEN_QUIET] = done ? "now" : "quiet job",
                                             [SETTING_RESTART] = "restart"};
    json_t *rows = json_array();
    int rc = 0;

    for (unsigned i = 0; i < changes->n; i++) {
        const struct settings_change *c = &changes->change[i];

        rc |= json_array_append_new(rows, json_pack("{s:o,s:o,s:o,s:s}", "key", view_json_text(c->key),
                                                    "from", view_json_text(c->from), "to",
                                                    view_json_text(c->to), "for", when[c->when]));
    }
    reply->view = json_pack("{s:o}", "changes", rows);
    reply->counters = json_array();
    if (rc != 0 || reply->view == NULL)
        reply_fail(reply, REPLY_FAILED, "it is done, but there is no memory to say what has changed");
}

static void add_choice(void *context, const char *call)
{
    json_array_append_new(context, json_string(call));
}

void reply_which_job(struct reply *reply, const struct registry_shown *s, const char *name)
{
    reply_fail(reply, REPLY_AMBIGUOUS, "several tenants have a job %s; say which: TENANT/%s", name, name);
    reply->choices = json_array();
    registry_calls(s, name, add_choice, reply->choices);
}

const struct ctl_entry *reply_find_job(struct reply *reply, const struct registry_shown *s, const char *name)
{
    const struct ctl_entry *job = NULL;
    const int rc = name == NULL ? -EINVAL : registry_find(s, name, &job);

    if (rc == 0)
        return job;
    if (rc == -EINVAL)
        reply_fail(reply, REPLY_BAD_REQUEST, "which job? `swaggctl jobs` lists them");
    else if (rc == -ENOTUNIQ)
        reply_which_job(reply, s, name);
    else
        reply_fail(reply, REPLY_UNKNOWN, "there is no job %s; `swaggctl jobs` lists them", name);
    return NULL;
}

enum { END_MAX = 64 /* "and 7 lines more, ..." */ };

static void hear(void *context, const char *text)
{
    struct hearing *h = context;
    const size_t room = REQUEST_TEXT_MAX - END_MAX, length = strlen(text);

    if (h->left_out > 0 || h->used + length + 1 >= room) {
        h->left_out++;
        return;
    }
    h->used += (size_t)snprintf(h->text + h->used, room - h->used, "%s%s", h->used == 0 ? "" : "\n", text);
}

void hearing_begin(struct hearing *h)
{
    *h = (struct hearing){.listener = {hear, h}};
    log_listen(&h->listener);
}

void hearing_end(struct hearing *h, bool done, struct reply *reply)
{
    log_listen(NULL);
    if (h->left_out > 0)
        snprintf(h->text + h->used, REQUEST_TEXT_MAX - h->used, "\nand %u lines more, which are in the log",
                 h->left_out);
    if (!done)
        reply_fail(reply, REPLY_REFUSED, "%s", h->text);
}
