#include "registry/reserved_file.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <jansson.h>

#include "base/kept_file.h"
#include "base/log.h"
#include "config/reload.h"
#include "monotonic.h"
#include "views/view.h"

static const char layout[] = "{s:s, s:s, s:s, s:I, s:I, s:I}";

static const char *path_of(char path[PATH_MAX], const struct config *cfg)
{
    char ip[VIEW_IP_MAX];

    snprintf(path, PATH_MAX, "%s/reserved-%s.json", cfg->state,
             view_ip(ip, cfg->server.ip != 0 ? cfg->server.ip : cfg->ip));
    return path;
}

/* --- writing --- */

static json_t *to_json(const struct reserved *r, const struct config *cfg, uint64_t now)
{
    json_t *all = json_array();

    for (const struct reservation *one = r->at; one < r->at + r->n; one++) {
        const json_int_t left = one->until > now ? (json_int_t)((one->until - now) / NS_PER_SECOND) : 0;

        json_array_append_new(all, json_pack(layout, "name", one->name, "job", one->pattern, "tenant",
                                             cfg->tenant[one->tenant].name, "ranks", (json_int_t)one->ranks,
                                             "slots", (json_int_t)one->slots, "until",
                                             (json_int_t)time(NULL) + left));
    }
    return all;
}

int reserved_file_write(const struct reserved *r, const struct config *cfg, uint64_t now)
{
    char path[PATH_MAX];
    json_t *all;
    int rc;

    if (cfg->state[0] == '\0')
        return 0;
    all = to_json(r, cfg, now);
    rc = kept_file_write(path_of(path, cfg), all, JSON_INDENT(1));
    json_decref(all);
    if (rc < 0)
        log_warning("state: %s cannot be written: %s: the next start does not know what is reserved now",
                    path, strerror(-rc));
    return rc;
}

/* --- reading --- */

/* NULL: there is none, or none that this has written or may read, which is logged. */
static json_t *read_file(const char *path)
{
    const int fd = kept_file_open(path);
    json_t *all;

    if (fd < 0) {
        if (errno != ENOENT)
            log_warning("state: %s cannot be read: %s: nothing is reserved", path, strerror(errno));
        return NULL;
    }
    all = json_loadfd(fd, 0, NULL);
    if (!json_is_array(all))
        log_warning("state: %s is not what swagg has written: nothing is reserved", path);
    close(fd);
    return all;
}

/* Whether one more is within the quotas as they are now, which may be less than when it was made. */
static bool has_room(const struct reserved *r, const struct config *cfg, const struct reservation *one,
                     char text[AGG_TEXT_MAX])
{
    const struct room_job asked = {.tenant = one->tenant, .slots = one->slots, .bytes = one->bytes};
    const uint32_t jobs = cfg->tenant[one->tenant].quota.jobs;
    struct room_job kept[RESERVED_MAX];
    unsigned n = 0, its = 0;
    const uint64_t bytes = reserved_append(r, &asked, kept, &n);
    const struct room room = {.whose = "this host",
                              .bytes = (uint64_t)cfg->pool.megabytes << 20,
                              .held = bytes,
                              .slots = cfg->pool.slots,
                              .bytes_a_job = (uint64_t)cfg->pool.megabytes_per_job << 20,
                              .tenants = cfg->tenants,
                              .tenant = cfg->tenant,
                              .jobs = n,
                              .job = kept};

    for (unsigned i = 0; i < n; i++)
        its += kept[i].tenant == one->tenant;
    if (n >= cfg->limits.jobs)
        snprintf(text, AGG_TEXT_MAX, "no place is left of limits.jobs, %u", cfg->limits.jobs);
    else if (jobs != 0 && its >= jobs)
        snprintf(text, AGG_TEXT_MAX, "no place is left of tenants[%d].quota.jobs, %u", one->tenant, jobs);
    else
        return room_for(&room, &asked, text);
    return false;
}

/* NULL, or why it cannot be; over: it was possible with other quotas, of which text tells. */
static const char *take(struct reserved *r, const struct config *cfg, json_t *from, uint64_t left_s,
                        uint64_t now, char over[AGG_TEXT_MAX])
{
    struct reservation one = {.until = now + left_s * NS_PER_SECOND};
    const char *name, *pattern, *tenant;
    json_int_t ranks, slots, until;

    if (json_unpack(from, layout, "name", &name, "job", &pattern, "tenant", &tenant, "ranks", &ranks, "slots",
                    &slots, "until", &until) != 0 ||
        strlen(name) >= sizeof(one.name) || strlen(pattern) >= sizeof(one.pattern))
        return "it is not what swagg has written";
    snprintf(one.name, sizeof(one.name), "%s", name);
    snprintf(one.pattern, sizeof(one.pattern), "%s", pattern);
    one.tenant = config_find(cfg, "tenants", tenant);
    one.ranks = ranks < 1 || ranks > cfg->limits.workers ? 0 : (uint32_t)ranks;
    one.slots = slots < 2 || slots > cfg->pool.slots_per_job ? 0 : (uint32_t)slots;
    if (one.tenant < 0)
        return "its tenant is gone";
    if (one.ranks == 0 || one.slots == 0 || !reserved_measure(cfg, &one))
        return "it has more ranks or slots than limits.workers or pool.slots_per_job";
    if (!has_room(r, cfg, &one, over))
        return over;
    return reserved_add(r, &one) < 0 ? "there are more than there can be" : NULL;
}

void reserved_file_read(struct reserved *r, const struct config *cfg, uint64_t now)
{
    char path[PATH_MAX];
    json_t *all, *one;
    size_t i;

    if (cfg->state[0] == '\0')
        return;
    all = read_file(path_of(path, cfg));
    json_array_foreach (all, i, one) {
        const json_int_t left = json_integer_value(json_object_get(one, "until")) - (json_int_t)time(NULL);
        char over[AGG_TEXT_MAX];
        const char *name = json_string_value(json_object_get(one, "name")),
                   *why = left <= 0 ? "its time is over" : take(r, cfg, one, (uint64_t)left, now, over);

        if (why == over)
            log_warning("reservation %s, made before this start: %s: nothing is kept for it; raise that and "
                        "start again, or release another and reserve it anew (swaggctl job reserve)",
                        name, over);
        else if (why != NULL)
            log_notice("reservation %s: %s", name == NULL ? "?" : name, why);
    }
    json_decref(all);
}
