#include "commands/actions_port.h"

#include <stdlib.h>
#include <string.h>

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

static void complain(void *reply, const char *message)
{
    struct reply *r = reply;

    if (r->code == REPLY_OK)
        reply_fail(r, REPLY_REFUSED, "%s", message);
}

/* Checks the port as one of the configuration's, beside those that there are. */
static bool check(const struct config *running, json_t *port, struct config_port *checked,
                  struct reply *reply)
{
    struct config *c = malloc(sizeof(*c));
    char *text = text_of(running, port);
    bool good = false;

    if (c != NULL && text != NULL)
        good = config_load_text(c, "port add", text, complain, reply) == 0;
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
    bool known = running->vlans == 0 && vlan == 0;

    for (unsigned i = 0; i < running->vlans; i++)
        known |= running->vlan[i].id == vlan;
    if (!known)
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

void port_add(const struct action_parts *parts, const struct request *request, const char *name,
              struct reply *reply)
{
    json_t *port = wanted_port(request, reply);
    struct config_port checked;
    char why[REQUEST_TEXT_MAX];
    uint32_t vlan;

    (void)name;
    if (port == NULL)
        return;
    vlan = (uint32_t)json_integer_value(json_object_get(port, "vlan"));
    json_object_del(port, "vlan");
    if (check_switch(parts->common.reload->running, vlan, reply) &&
        check(parts->common.reload->running, port, &checked, reply)) {
        checked.vlan = vlan;
        if (!parts->reloading.add_port(parts->reloading.context, &checked, why))
            reply_fail(reply, REPLY_REFUSED, "%s", why);
    }
    json_decref(port);
}

void port_delete(const struct action_parts *parts, const struct request *request, const char *name,
                 struct reply *reply)
{
    char why[REQUEST_TEXT_MAX];

    (void)request;
    if (!parts->reloading.delete_port(parts->reloading.context, name, why))
        reply_fail(reply, REPLY_REFUSED, "%s", why);
}
