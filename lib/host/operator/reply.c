#include "operator/reply.h"

#include <stdarg.h>
#include <stdbool.h>
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

void reply_fail(struct reply *reply, enum reply_code code, const char *format, ...)
{
    va_list args;

    drop_view(reply);
    reply->code = code;
    va_start(args, format);
    vsnprintf(reply->error, sizeof(reply->error), format, args);
    va_end(args);
}

void reply_view(struct reply *reply, struct view_out *out)
{
    if (view_end(out, &reply->view, &reply->counters) == 0)
        return;
    reply->view = reply->counters = NULL;
    reply_fail(reply, REPLY_FAILED, "no memory for the answer");
}

/* The text may quote what the operator's tool sent, which may end in the middle of a character. */
static json_t *text(const char *message)
{
    json_t *value = json_string(message);

    return value != NULL ? value : json_string("the message quotes what is no text");
}

static char *with_newline(char *line)
{
    const size_t n = line == NULL ? 0 : strlen(line);
    char *longer = line == NULL ? NULL : realloc(line, n + 2);

    if (longer == NULL) {
        free(line);
        return NULL;
    }
    memcpy(longer + n, "\n", 2);
    return longer;
}

char *reply_line(struct reply *reply, const char *daemon)
{
    const bool ok = reply->code == REPLY_OK;
    json_t *answer = json_pack("{s:i, s:s, s:b}", "version", REQUEST_VERSION, "switch", daemon, "ok", ok);
    char *line;

    if (!ok) {
        json_object_set_new(answer, "code", json_string(code_names[reply->code]));
        json_object_set_new(answer, "error", text(reply->error));
        if (reply->choices != NULL)
            json_object_set(answer, "choices", reply->choices);
    } else if (reply->view != NULL) {
        json_object_set(answer, "counters", reply->counters);
        json_object_set(answer, "view", reply->view);
    }
    line = json_dumps(answer, JSON_COMPACT);
    json_decref(answer);
    drop_view(reply);
    return with_newline(line);
}
