#include "commands/actions_impair.h"

#include <string.h>

#include "base/log.h"

enum { REORDER_BY = 3, REORDER_BY_MAX = 1000, REORDER_FOR_US = 1000, REORDER_FOR_US_MAX = 10000000 };

enum { TO_HOST = 1, FROM_HOST = 2 }; /* directions: sending, receiving */

/* The sum of the directions that the request is about; 0: the reply says what is wrong. */
static unsigned directions_of(const struct request *request, struct reply *reply)
{
    const char *direction = request_text(request, "direction");

    if (direction == NULL)
        return TO_HOST | FROM_HOST;
    if (strcmp(direction, "rx") == 0)
        return FROM_HOST;
    if (strcmp(direction, "tx") == 0)
        return TO_HOST;
    reply_fail(reply, REPLY_BAD_REQUEST, "%s is no direction; there are: rx (from the host), tx (to it)",
               direction);
    return 0;
}

/* What is wrong with a value; NULL: nothing. */
static const char *put_rate(struct impair_config *cfg, const char *key, double value)
{
    for (enum impair_kind k = 0; k < IMPAIR_KINDS; k++) {
        const size_t length = strlen(impair_kind_name(k));

        if (strncmp(key, impair_kind_name(k), length) != 0)
            continue;
        if (key[length] == '\0') {
            if (!(value >= 0 && value <= 1))
                return "is not a probability (0..1)";
            cfg->rate[k].probability = value;
            return NULL;
        }
        if (strcmp(key + length, "_every") == 0) {
            if (!request_is_whole(value, 0, UINT32_MAX))
                return "is no whole number of frames";
            cfg->rate[k].every = (uint32_t)value;
            return NULL;
        }
    }
    return "is no impairment; there are: drop, duplicate, reorder, corrupt, each with _every, too, "
           "reorder_by, "
           "reorder_for_us";
}

static const char *put_setting(struct impair_config *cfg, const char *key, double value)
{
    if (strcmp(key, "reorder_by") == 0) {
        if (!request_is_whole(value, 1, REORDER_BY_MAX))
            return "is no whole number from 1 to 1000";
        cfg->hold_frames = (uint32_t)value;
        return NULL;
    }
    if (strcmp(key, "reorder_for_us") == 0) {
        if (!request_is_whole(value, 1, REORDER_FOR_US_MAX))
            return "is no whole number from 1 to 10000000";
        cfg->hold_for = (uint64_t)value;
        return NULL;
    }
    return put_rate(cfg, key, value);
}

static bool read_settings(struct impair_config *cfg, const struct request *request, struct reply *reply)
{
    json_t *settings = json_object_get(request->body, "settings"), *value;
    const char *key, *wrong;

    *cfg = (struct impair_config){.hold_frames = REORDER_BY, .hold_for = REORDER_FOR_US};
    json_object_foreach (settings, key, value) {
        if (!json_is_number(value)) {
            reply_fail(reply, REPLY_BAD_REQUEST, "%s: \"%s\" is not a number", key,
                       json_is_string(value) ? json_string_value(value) : "");
            return false;
        }
        wrong = put_setting(cfg, key, json_number_value(value));
        if (wrong != NULL) {
            reply_fail(reply, REPLY_BAD_REQUEST, "%s: %g %s", key, json_number_value(value), wrong);
            return false;
        }
    }
    if (impair_active(cfg))
        return true;
    reply_fail(reply, REPLY_BAD_REQUEST, "nothing is to be impaired; say what, drop=0.01 for instance");
    return false;
}

static void change(const struct action_parts *parts, const char *name, unsigned directions,
                   const struct impair_config *cfg)
{
    const unsigned p = (unsigned)view_find_port(parts->show, name);
    struct config_impair *now = &parts->common.reload->running->port[p].impair;

    if (directions & FROM_HOST)
        now->rx = *cfg;
    if (directions & TO_HOST)
        now->tx = *cfg;
    impairing_change(&parts->impairing, p, directions & FROM_HOST ? cfg : NULL,
                     directions & TO_HOST ? cfg : NULL, parts->common.reload->running->seed);
    log_notice("port %s: impairments %s by the operator%s", name, impair_active(cfg) ? "set" : "cleared",
               directions == FROM_HOST ? ", on receiving"
               : directions == TO_HOST ? ", on sending"
                                       : "");
}

void impairments_set(const struct action_parts *parts, const struct request *request, const char *name,
                     struct reply *reply)
{
    const unsigned directions = directions_of(request, reply);
    struct impair_config cfg;

    if (directions != 0 && read_settings(&cfg, request, reply))
        change(parts, name, directions, &cfg);
}

void impairments_clear(const struct action_parts *parts, const struct request *request, const char *name,
                       struct reply *reply)
{
    const unsigned directions = directions_of(request, reply);
    const struct impair_config none = {.hold_frames = REORDER_BY, .hold_for = REORDER_FOR_US};

    if (directions != 0)
        change(parts, name, directions, &none);
}
