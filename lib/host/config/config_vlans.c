/* VLANs: which ports carry which, and the switch's addresses in them. */
#include <stdio.h>

#include "config/config_check.h"
#include "config/config_value.h"
#include "net/vlan.h"

static bool carries_any(const struct config_port *p)
{
    return p->vlan != 0 || p->trunk_count > 0;
}

static bool any_port_carries(const struct config *c)
{
    for (unsigned p = 0; p < c->ports; p++)
        if (carries_any(&c->port[p]))
            return true;
    return false;
}

/* Reports a number that no VLAN has. */
static bool check_id(struct config_text *t, const char *path, uint32_t id)
{
    if (id >= 1 && id <= NET_VLAN_LAST)
        return true;
    config_fault(t, path, "%u is no VLAN (1..%u)", id, NET_VLAN_LAST);
    return false;
}

static struct config_vlan *find(struct config *c, uint32_t id)
{
    for (unsigned i = 0; i < c->vlans; i++)
        if (c->vlan[i].id == id)
            return &c->vlan[i];
    return NULL;
}

/* The VLAN is one of the switch's from here on. */
static void note(struct config_text *t, const char *path, struct config *c, uint32_t id)
{
    if (!check_id(t, path, id) || find(c, id) != NULL)
        return;
    if (c->vlans < CONFIG_VLANS_MAX)
        c->vlan[c->vlans++] = (struct config_vlan){.id = id};
    else
        config_fault(t, path, "VLAN %u is one more than the %d that a switch may have", id, CONFIG_VLANS_MAX);
}

static void check_trunk(struct config_text *t, struct config *c, unsigned p)
{
    const struct config_port *port = &c->port[p];
    char path[CONFIG_PATH_MAX];

    for (unsigned i = 0; i < port->trunk_count; i++) {
        snprintf(path, sizeof(path), "ports[%u].trunk[%u]", p, i);
        note(t, path, c, port->trunk[i]);
        if (port->trunk[i] == port->vlan)
            config_fault(t, path, "VLAN %u is the port's vlan, whose frames have no tag", port->vlan);
        for (unsigned other = 0; other < i; other++)
            if (port->trunk[other] == port->trunk[i])
                config_fault(t, path, "VLAN %u is there twice", port->trunk[i]);
    }
}

static void check_port(struct config_text *t, struct config *c, unsigned p)
{
    char path[CONFIG_PATH_MAX];

    snprintf(path, sizeof(path), "ports[%u].vlan", p);
    if (config_text_has(t, path))
        note(t, path, c, c->port[p].vlan);
    check_trunk(t, c, p);
    snprintf(path, sizeof(path), "ports[%u]", p);
    if (!carries_any(&c->port[p]) && !config_text_is_faulty(t, path))
        config_fault(t, path, "carries no VLAN, but other ports do: give it vlan, trunk, or both");
}

static bool is_carried(const struct config *c, uint32_t id)
{
    for (unsigned p = 0; p < c->ports; p++) {
        if (c->port[p].vlan == id)
            return true;
        for (unsigned i = 0; i < c->port[p].trunk_count; i++)
            if (c->port[p].trunk[i] == id)
                return true;
    }
    return false;
}

/* These come first in c->vlan, in their order. */
static void check_address(struct config_text *t, struct config *c, struct config_raw_address *raw, unsigned i)
{
    struct config_vlan *vlan;
    char path[CONFIG_PATH_MAX];

    snprintf(path, sizeof(path), "switch.vlans[%u].vlan", i);
    if (!check_id(t, path, raw->vlan))
        return;
    if (find(c, raw->vlan) != NULL) {
        config_fault(t, path, "VLAN %u is there twice", raw->vlan);
        return;
    }
    if (!is_carried(c, raw->vlan))
        config_fault(t, path, "no port carries VLAN %u (ports.vlan, ports.trunk)", raw->vlan);
    note(t, path, c, raw->vlan);
    vlan = find(c, raw->vlan);
    snprintf(path, sizeof(path), "switch.vlans[%u].ip", i);
    config_parse_ip(t, path, raw->ip, &vlan->ip, &vlan->prefix);
}

static void check_addresses(struct config_text *t, struct config *c, struct config_raw_switch *sw)
{
    for (unsigned i = 0; i < sw->vlans_count; i++)
        check_address(t, c, &sw->vlans[i], i);
    if (config_text_has(t, "switch.ip"))
        config_fault(
            t, "switch.ip",
            "an address belongs to one VLAN, where ports carry VLANs: write vlans: [{vlan: 10, ip: %s}]",
            sw->ip);
    c->has_ip = sw->vlans_count > 0;
    c->ip = c->vlan[0].ip;
    c->prefix = c->vlan[0].prefix;
}

void config_check_vlans(struct config_text *t, struct config_raw *raw)
{
    struct config *c = &raw->config;

    if (!any_port_carries(c)) {
        if (config_text_has(t, "switch.vlans"))
            config_fault(t, "switch.vlans",
                         "no port carries VLANs: give ports vlan or trunk, or write switch.ip");
        return;
    }
    check_addresses(t, c, &raw->sw);
    for (unsigned p = 0; p < c->ports; p++)
        check_port(t, c, p);
}

void config_check_job_vlan(struct config_text *t, const char *path, const struct config *c, uint32_t id,
                           bool with_address, uint8_t *network)
{
    *network = 0;
    if (!config_text_has(t, path))
        return;
    for (unsigned i = 0; i < c->vlans; i++)
        if (c->vlan[i].id == id && (c->vlan[i].ip != 0 || !with_address)) {
            *network = (uint8_t)i;
            return;
        }
    if (with_address)
        config_fault(t, path, "the switch has no address in VLAN %u (switch.vlans)", id);
    else
        config_fault(t, path, "no port carries VLAN %u (ports.vlan, ports.trunk)", id);
}
