#include "operator/request.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>

static int check(struct request *r, char why[REQUEST_TEXT_MAX])
{
    const json_t *version = json_object_get(r->body, "version");

    r->command = request_text(r, "command");
    if (!json_is_object(r->body))
        snprintf(why, REQUEST_TEXT_MAX,
                 "a request is a JSON object: {\"version\": %d, \"command\": \"status\"}", REQUEST_VERSION);
    else if (!json_is_integer(version))
        snprintf(why, REQUEST_TEXT_MAX, "the request has no number \"version\"; it is %d", REQUEST_VERSION);
    else if (json_integer_value(version) != REQUEST_VERSION)
        snprintf(why, REQUEST_TEXT_MAX,
                 "the request is of version %lld, the switch knows %d: use the swaggctl that was installed "
                 "with it",
                 (long long)json_integer_value(version), REQUEST_VERSION);
    else if (r->command == NULL)
        snprintf(why, REQUEST_TEXT_MAX, "the request has no text \"command\"");
    else
        return 0;
    return -EINVAL;
}

/* Settings that come as 128.0, from tools that know no others, are whole from here on, and are told so. */
static void make_whole(json_t *settings)
{
    const char *key;
    json_t *value;
    void *next;

    json_object_foreach_safe (settings, next, key, value)
        if (json_is_real(value) && request_is_whole(json_real_value(value), 0, UINT32_MAX))
            json_object_set_new(settings, key, json_integer((json_int_t)json_real_value(value)));
}

int request_parse(struct request *r, const char *line, size_t bytes, char why[REQUEST_TEXT_MAX])
{
    json_error_t error;
    int rc;

    r->body = json_loadb(line, bytes, JSON_REJECT_DUPLICATES, &error);
    if (r->body == NULL) {
        snprintf(why, REQUEST_TEXT_MAX, "not JSON: %s", error.text);
        return -EINVAL;
    }
    rc = check(r, why);
    if (rc < 0)
        request_free(r);
    else
        make_whole(json_object_get(r->body, "settings"));
    return rc;
}

void request_free(struct request *r)
{
    json_decref(r->body);
    *r = (struct request){0};
}

const char *request_text(const struct request *r, const char *key)
{
    return json_string_value(json_object_get(r->body, key));
}

bool request_is_whole(double number, double least, double most)
{
    return number >= least && number <= most && number == (double)(int64_t)number; /* false for NaN, too */
}
