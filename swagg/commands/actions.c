#include "commands/actions.h"

#include <string.h>

#include "base/log.h"
#include "commands/actions_impair.h"
#include "commands/actions_port.h"
#include "operator/mac.h"

static void reset_job(const struct action_parts *parts, const struct request *request, const char *name,
                      struct reply *reply)
{
    struct view_job job;

    (void)request;
    if (view_find_job(parts->show, name, &job) < 0 || job.fixed == NULL)
        reply_fail(reply, REPLY_REFUSED,
                   "workers joined job %s, which knows when they start anew: only jobs of the configuration "
                   "are reset",
                   name);
    else
        static_jobs_reset(parts->static_jobs, job.fixed);
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

static void port_goes_up(const struct action_parts *parts, const struct request *request, const char *name,
                         struct reply *reply)
{
    (void)request;
    (void)reply;
    set_port(parts, name, false);
}

static void port_goes_down(const struct action_parts *parts, const struct request *request, const char *name,
                           struct reply *reply)
{
    (void)request;
    (void)reply;
    set_port(parts, name, true);
}

static void flush_fdb(const struct action_parts *parts, const struct request *request, const char *name,
                      struct reply *reply)
{
    (void)request;
    (void)reply;
    bridge_tables_forget(parts->bridge, parts->show->vlans->n,
                         name == NULL ? -1 : view_find_port(parts->show, name));
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

static void add_station(const struct action_parts *parts, const struct request *request, const char *name,
                        struct reply *reply)
{
    uint8_t mac[BRIDGE_MAC_BYTES];

    if (operator_mac_read(request, mac, reply) &&
        !fix(parts, mac, (unsigned)view_find_port(parts->show, name)))
        reply_fail(
            reply, REPLY_REFUSED,
            "%s is a group address or zero, or there are too many static stations like it (swaggctl fdb)",
            request_text(request, "mac"));
}

static void delete_station(const struct action_parts *parts, const struct request *request, const char *name,
                           struct reply *reply)
{
    uint8_t mac[BRIDGE_MAC_BYTES];

    (void)name;
    if (operator_mac_read(request, mac, reply) && !unfix(parts, mac))
        reply_fail(reply, REPLY_UNKNOWN, "there is no static station %s (swaggctl fdb)",
                   request_text(request, "mac"));
}

static const struct action actions[] = {
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
