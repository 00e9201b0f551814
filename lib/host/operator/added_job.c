#include "operator/added_job.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

static json_t *address_text(uint32_t ip, unsigned prefix)
{
    const uint8_t *b = (const uint8_t *)&ip;

    return json_sprintf("%u.%u.%u.%u/%u", b[0], b[1], b[2], b[3], prefix);
}

/* The switch's addresses, and a port that carries what they are in. */
static void put_addresses(const struct config *running, json_t *whole, json_t *port)
{
    json_t *vlans = json_array(), *trunk = json_array();

    for (unsigned v = 0; v < running->vlans; v++)
        if (running->vlan[v].ip != 0) {
            const struct config_vlan *vlan = &running->vlan[v];

            json_array_append_new(trunk, json_integer(vlan->id));
            json_array_append_new(
                vlans, json_pack("{s:i, s:o}", "vlan", vlan->id, "ip", address_text(vlan->ip, vlan->prefix)));
        }
    if (json_array_size(vlans) > 0) {
        json_object_set_new(whole, "switch", json_pack("{s:O}", "vlans", vlans));
        json_object_set(port, "trunk", trunk);
    } else if (running->has_ip) {
        json_object_set_new(whole, "switch",
                            json_pack("{s:o}", "ip", address_text(running->ip, running->prefix)));
    }
    json_decref(vlans);
    json_decref(trunk);
}

/* Nobody joins this configuration's tenants: each has an address that is no other's. Without an address of
 * the switch there are none. */
static void put_tenants(const struct config *running, json_t *whole)
{
    json_t *tenants = json_array();

    for (unsigned t = 0; t < running->tenants; t++)
        json_array_append_new(tenants, json_pack("{s:s, s:[o]}", "name", running->tenant[t].name, "addresses",
                                                 address_text(htonl(t + 1), 32)));
    if (running->has_ip)
        json_object_set(whole, "tenants", tenants);
    json_decref(tenants);
}

/* A configuration of this job alone, as text; of the running one only what the job's own settings refer to.
 */
static char *text_of_job(const struct config *running, const char *list, json_t *job)
{
    json_t *port = json_pack("{s:s}", "device", "kernel:eth0");
    json_t *whole = json_pack("{s:i, s:{s:i}, s:[O], s:[O]}", "mtu", running->mtu, "timers", "lost_after_ms",
                              running->timers.lost_after_ms, "ports", port, list, job);
    char *text;

    put_tenants(running, whole);
    put_addresses(running, whole, port);
    text = json_dumps(whole, 0);
    json_decref(port);
    json_decref(whole);
    return text;
}

/* Checks the job as one of the configuration's; returns that of it alone. NULL: the reply says why not. */
static struct config *check_job(const struct config *running, const char *list, json_t *item,
                                struct reply *reply)
{
    struct config *alone = malloc(sizeof(*alone));
    char *text = text_of_job(running, list, item);
    bool good = false;

    if (alone != NULL && text != NULL)
        good = config_load_text(alone, "job add", text, reply_fault, reply) == 0;
    else
        reply_fail(reply, REPLY_FAILED, "no memory");
    free(text);
    if (good) {
        config_mark_added(alone, running);
        return alone;
    }
    free(alone);
    return NULL;
}

/* The list that the job is to be in, which is taken out of its settings. NULL: the reply says why not. */
static const char *take_list(json_t *item, struct reply *reply)
{
    const json_t *said = json_object_get(item, "list");
    const char *name = said == NULL ? config_open_list(0) : json_string_value(said), *list;
    char there_are[128] = "";

    for (unsigned l = 0; (list = config_open_list(l)) != NULL; l++) {
        if (name != NULL && strcmp(name, list) == 0) {
            json_object_del(item, "list");
            return list;
        }
        snprintf(there_are + strlen(there_are), sizeof(there_are) - strlen(there_are), "%s%s",
                 l == 0 ? "" : ", ", list);
    }
    reply_fail(reply, REPLY_BAD_REQUEST, "list: is none that jobs can be added to; there are: %s", there_are);
    return NULL;
}

struct config *added_job_read(const struct config *running, const struct request *request,
                              struct reply *reply)
{
    json_t *settings = json_object_get(request->body, "settings");
    json_t *item = json_is_object(settings) ? json_deep_copy(settings) : json_object();
    const char *called = request_text(request, "job");
    const char *list = take_list(item, reply);
    struct config *alone = NULL;

    json_object_set_new(item, "name", json_string(called == NULL ? "" : called));
    if (list != NULL)
        alone = check_job(running, list, item, reply);
    json_decref(item);
    return alone;
}
