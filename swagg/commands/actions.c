#include "commands/actions.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "operator/added_job.h"
#include "operator/reply.h"

/* --- ports that are added and removed --- */

static void put_port(json_t *ports, const struct config_port *p)
{
    json_array_append_new(ports, json_pack("{s:s, s:s, s:i, s:i}", "name", p->name, "device", p->device,
                                           "rx_queues", p->rx_queues, "tx_queues", p->tx_queues));
}

/* NULL: nothing is wrong. */
static const char *wrong_with(const char *key, const json_t *value)
{
    static const char *const numbers[] = {"rx_queues", "tx_queues", "vlan"};
    bool known = false;

    for (unsigned i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        known |= strcmp(key, numbers[i]) == 0;
    if (!known)
        return "is no setting of a port";
    if (!json_is_number(value))
        return "is not a number";
    return request_is_whole(json_number_value(value), 0, UINT32_MAX)
               ? NULL
               : "is no whole number from 0 to 4294967295";
}

/* The port that is asked for; NULL: the reply says what is wrong. */
static json_t *wanted_port(const struct request *request, struct reply *reply)
{
    json_t *settings = json_object_get(request->body, "settings"), *port = json_object(), *value;
    const char *name = request_text(request, "port"), *device = request_text(request, "device"), *key;

    json_object_set_new(port, "name", json_string(name == NULL ? "" : name));
    json_object_set_new(port, "device", json_string(device == NULL ? "" : device));
    json_object_foreach (settings, key, value) {
        const char *wrong = wrong_with(key, value);

        if (wrong != NULL) {
            reply_fail(reply, REPLY_BAD_REQUEST, "%s: %s; there are: rx_queues, tx_queues, vlan", key, wrong);
            json_decref(port);
            return NULL;
        }
        json_object_set_new(port, key, json_integer((json_int_t)json_number_value(value)));
    }
    return port;
}

/* A configuration of ports alone, as text. JSON is YAML, too. */
static char *text_of(const struct config *running, json_t *port)
{
    json_t *ports = json_array(), *all = json_pack("{s:i, s:o}", "mtu", running->mtu, "ports", ports);
    char *text;

    for (unsigned p = 0; p < running->ports; p++)
        if (running->port[p].name[0] != '\0')
            put_port(ports, &running->port[p]);
    json_array_append(ports, port);
    text = json_dumps(all, 0);
    json_decref(all);
    return text;
}

/* Checks the port as one of the configuration's, beside those that there are. */
static bool check(const struct config *running, json_t *port, struct config_port *checked,
                  struct reply *reply)
{
    struct config *c = malloc(sizeof(*c));
    char *text = text_of(running, port);
    bool good = false;

    if (c != NULL && text != NULL)
        good = config_load_text(c, "port add", text, reply_fault, reply) == 0;
    else
        reply_fail(reply, REPLY_FAILED, "no memory");
    if (good)
        *checked = c->port[c->ports - 1];
    free(text);
    free(c);
    return good;
}

/* vlan 0: none was asked for. */
static bool check_switch(const struct config *running, uint32_t vlan, struct reply *reply)
{
    if (running->vlans == 0 ? vlan != 0 : config_find_vlan(running, vlan) < 0)
        reply_fail(reply, REPLY_REFUSED,
                   running->vlans == 0 ? "vlan=%u: the switch has no VLANs (switch.vlans)"
                                       : "vlan=%u: the switch has no such VLAN; say vlan=ID with one of "
                                         "switch.vlans",
                   vlan);
    else if (running->link_local == CONFIG_LINK_LOCAL_TRANSPARENT)
        reply_fail(reply, REPLY_REFUSED,
                   "switch.link_local is transparent, which is for a switch with two ports");
    else
        return true;
    return false;
}

/* The request has "port" and "device", as in the configuration, and "settings": rx_queues, tx_queues, vlan.
 */
static void port_add(const struct action_call *c)
{
    json_t *port = wanted_port(c->request, c->reply);
    struct config_port checked;
    struct hearing hearing;
    uint32_t vlan;

    if (port == NULL)
        return;
    vlan = (uint32_t)json_integer_value(json_object_get(port, "vlan"));
    json_object_del(port, "vlan");
    if (check_switch(c->parts->common.reload->running, vlan, c->reply) &&
        check(c->parts->common.reload->running, port, &checked, c->reply)) {
        checked.vlan = vlan;
        hearing_begin(&hearing);
        hearing_end(&hearing, c->parts->reloading.add_port(c->parts->reloading.reload, &checked) == 0,
                    c->reply);
    }
    json_decref(port);
}

static void port_delete(const struct action_call *c)
{
    struct hearing hearing;

    hearing_begin(&hearing);
    hearing_end(&hearing, c->parts->reloading.delete_port(c->parts->reloading.reload, c->name) == 0,
                c->reply);
}

/* --- jobs that nobody joins, added and deleted --- */

/* The request: operator/added_job.h. */
static void job_add(const struct action_call *c)
{
    struct config *alone = added_job_read(c->parts->common.reload->running, c->request, c->reply);
    const char *job = request_text(c->request, "job");
    struct hearing hearing;

    if (alone != NULL) {
        hearing_begin(&hearing);
        hearing_end(&hearing, c->parts->reloading.add_job(c->parts->reloading.reload, alone, job) == 0,
                    c->reply);
    }
    free(alone);
}

/* Who asks may have said whose it is: TENANT/NAME. */
static void job_delete(const struct action_call *c)
{
    struct view_job job;
    const bool fixed = view_find_job(c->parts->show, c->name, &job) == 0 && job.fixed != NULL;
    struct hearing hearing;

    hearing_begin(&hearing);
    hearing_end(&hearing,
                c->parts->reloading.delete_job(c->parts->reloading.reload, fixed ? job.name : c->name) == 0,
                c->reply);
}

/* --- impairments of a port --- */

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
        if (!json_is_number(value))
            return reply_fail(reply, REPLY_BAD_REQUEST, "%s: \"%s\" is not a number", key,
                              json_is_string(value) ? json_string_value(value) : "");
        wrong = put_setting(cfg, key, json_number_value(value));
        if (wrong != NULL)
            return reply_fail(reply, REPLY_BAD_REQUEST, "%s: %g %s", key, json_number_value(value), wrong);
    }
    if (impair_active(cfg))
        return true;
    return reply_fail(reply, REPLY_BAD_REQUEST,
                      "nothing is to be impaired; say what, drop=0.01 for instance");
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

/* The request has the port's "name", "direction" (rx, tx; not given: both) and "settings": numbers by the
 * keys of the configuration's group impair. */
static void impairments_set(const struct action_call *c)
{
    const unsigned directions = directions_of(c->request, c->reply);
    struct impair_config cfg;

    if (directions != 0 && read_settings(&cfg, c->request, c->reply))
        change(c->parts, c->name, directions, &cfg);
}

static void impairments_clear(const struct action_call *c)
{
    const unsigned directions = directions_of(c->request, c->reply);
    const struct impair_config none = {.hold_frames = REORDER_BY, .hold_for = REORDER_FOR_US};

    if (directions != 0)
        change(c->parts, c->name, directions, &none);
}

/* --- jobs, links, stations --- */

static void reset_job(const struct action_call *c)
{
    struct view_job job;

    if (view_find_job(c->parts->show, c->name, &job) < 0 || job.fixed == NULL)
        reply_fail(c->reply, REPLY_REFUSED,
                   "workers joined job %s, which knows when they start anew: only jobs of the configuration "
                   "are reset",
                   c->name);
    else
        static_jobs_reset(c->parts->static_jobs, job.fixed);
}

static void set_port(const struct action_parts *parts, const char *name, bool down)
{
    const int p = view_find_port(parts->show, name);

    if (port_is_closed_for(&parts->port[p], PORT_DISABLED) != down)
        log_notice("port %s: %s by the operator", name, down ? "taken down" : "brought up");
    port_close_for(&parts->port[p], PORT_DISABLED, down);
    if (!down)
        port_close_for(&parts->port[p], PORT_BLOCKED, false);
}

static void port_goes_up(const struct action_call *c)
{
    set_port(c->parts, c->name, false);
}

static void port_goes_down(const struct action_call *c)
{
    set_port(c->parts, c->name, true);
}

static void flush_fdb(const struct action_call *c)
{
    bridge_tables_forget(c->parts->bridge, c->parts->show->vlans->n,
                         c->name == NULL ? -1 : view_find_port(c->parts->show, c->name));
}

/* In every network that the port carries. */
static bool fix(const struct action_parts *parts, const uint8_t mac[BRIDGE_MAC_BYTES], unsigned port)
{
    const struct vlans *vlans = parts->show->vlans;
    bool all = true;

    for (unsigned i = 0; i < vlans->n; i++)
        if (vlans->vlan[i].ports & RTE_BIT64(port))
            all &= bridge_fix(bridge_of(parts->bridge, i), mac, (uint8_t)port);
    return all;
}

static bool unfix(const struct action_parts *parts, const uint8_t mac[BRIDGE_MAC_BYTES])
{
    bool any = false;

    for (unsigned i = 0; i < parts->show->vlans->n; i++)
        any |= bridge_unfix(bridge_of(parts->bridge, i), mac);
    return any;
}

static void add_station(const struct action_call *c)
{
    uint8_t mac[BRIDGE_MAC_BYTES];

    if (operator_mac_read(c->request, mac, c->reply) &&
        !fix(c->parts, mac, (unsigned)view_find_port(c->parts->show, c->name)))
        reply_fail(
            c->reply, REPLY_REFUSED,
            "%s is a group address or zero, or there are too many static stations like it (swaggctl fdb)",
            request_text(c->request, "mac"));
}

static void delete_station(const struct action_call *c)
{
    uint8_t mac[BRIDGE_MAC_BYTES];

    if (operator_mac_read(c->request, mac, c->reply) && !unfix(c->parts, mac))
        reply_fail(c->reply, REPLY_UNKNOWN, "there is no static station %s (swaggctl fdb)",
                   request_text(c->request, "mac"));
}

static const struct action actions[] = {
    {"job add", job_add, VIEW_OF_ALL, true},
    {"job del", job_delete, VIEW_OF_JOB, false},
    {"job reset", reset_job, VIEW_OF_JOB, false},
    {"port add", port_add, VIEW_OF_ALL, true},
    {"port del", port_delete, VIEW_OF_PORT, false},
    {"port up", port_goes_up, VIEW_OF_PORT, false},
    {"port down", port_goes_down, VIEW_OF_PORT, false},
    {"impair set", impairments_set, VIEW_OF_PORT, false},
    {"impair clear", impairments_clear, VIEW_OF_PORT, false},
    {"fdb flush", flush_fdb, VIEW_OF_PORT, true},
    {"fdb add", add_station, VIEW_OF_PORT, false},
    {"fdb del", delete_station, VIEW_OF_ALL, true},
};

const struct action *actions_find(const char *name)
{
    for (unsigned i = 0; i < sizeof(actions) / sizeof(actions[0]); i++)
        if (strcmp(actions[i].name, name) == 0)
            return &actions[i];
    return NULL;
}
