/* The list of uplinks: the switches above this one, and which jobs go on to them. */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "config/config_parts.h"
#include "net/vlan.h"
#include "settings/values.h"

static const struct setting tenant_name = {.type = SETTING_LATER};

/* Of the tenants, the i-th whose bit is set; none of all that there can be. */
static bool show_tenant(char text[SETTING_SHOWN_MAX], const void *configuration, const void *list, unsigned i)
{
    const struct config *c = configuration;
    uint64_t left = *(const uint64_t *)list;

    for (; i > 0; i--)
        left &= left - 1;
    if (left == 0 || *(const uint64_t *)list == UINT64_MAX)
        return false;
    snprintf(text, SETTING_SHOWN_MAX, "%s", c->tenant[__builtin_ctzll(left)].name);
    return true;
}

/* clang-format off */
const struct setting config_uplink_fields[] = {
    {.key = "parent", .type = SETTING_LATER, .required = true, .when = SETTING_RESTART,
     SETTING_AT(struct config_uplink, parent), .most = 63, .show = setting_show_ip, .kind = "IPv4 address",
     .meaning = "of the switch above: its `switch.ip`"},
    {.key = "via", .type = SETTING_LATER, .when = SETTING_RESTART, SETTING_AT(struct config_uplink, via), .most = 63,
     .show = setting_show_ip, .kind = "IPv4 address",
     .meaning = "of the router on the way, if the parent is not in the network of `switch.ip`"},
    {.key = "jobs", SETTING_LIST_AT(struct config_uplink, jobs.text, jobs.n, 1, CONFIG_PATTERNS_MAX),
     .item = &config_pattern, .when = SETTING_RESTART, .usual = "`[\"*\"]`",
     .meaning = "names of the jobs that go on, as in [`tenants`](#tenants-a-list-up-to-64)"},
    {.key = "tenants", .type = SETTING_LIST, .when = SETTING_RESTART, SETTING_AT(struct config_uplink, tenants),
     .least = 1, .most = CONFIG_TENANTS_MAX, .item = &tenant_name, .show_item = show_tenant,
     .kind = "names", .usual = "all",
     .meaning = "only jobs of these [tenants](#tenants-a-list-up-to-64)"},
    {.key = "key_file", .type = SETTING_TEXT, SETTING_AT(struct config_uplink, key_file), .most = CONFIG_FILE_MAX - 1,
     .meaning = "the file with a [key](#key-files) by which the parent knows this switch; without it jobs with keys are refused"},
    {.key = "vlan", SETTING_NUMBER_AT(struct config_uplink, vlan, 1, NET_VLAN_LAST, 0), .refusal = "is no VLAN",
     .when = SETTING_RESTART, .usual = "the first in which the switch has an address",
     .meaning = "the VLAN that the parent is in; jobs of this VLAN go on"},
    {.key = NULL},
};
/* clang-format on */

/* The switch's address in the network of an uplink. */
struct own {
    bool known; /* it has one, and it is good */
    const char *key;
    uint32_t ip;
    uint8_t prefix;
};

static struct own own_address(struct settings *s, const struct config *c, const struct config_uplink *to)
{
    const struct config_vlan *vlan = &c->vlan[to->network];
    const char *key = c->vlans > 0 ? "switch.vlans" : "switch.ip";

    return (struct own){.known = c->has_ip && !settings_are_faulty(s, key),
                        .key = key,
                        .ip = c->vlans > 0 ? vlan->ip : c->ip,
                        .prefix = c->vlans > 0 ? vlan->prefix : c->prefix};
}

/* Whether hosts reach this address without a router. Without a prefix nobody has said which they do. */
static bool is_near(const struct own *us, uint32_t ip)
{
    return us->prefix == 32 || ((ntohl(ip) ^ ntohl(us->ip)) >> (32 - us->prefix)) == 0;
}

/* Reads the address of another station on the way to the parent; false: it is none, which was reported. */
static bool parse_address(struct settings *s, const struct own *us, const char *path, uint32_t *ip)
{
    const char *text = settings_text(s, path), *why;

    setting_parse_ip(s, path, text, ip);
    if (settings_are_faulty(s, path))
        return false;
    if (strchr(text, '/') != NULL)
        settings_fault(s, path, "\"%s\" has a prefix: write the address alone, %.*s", text,
                       (int)strcspn(text, "/"), text);
    else if (us->known && *ip == us->ip)
        settings_fault(s, path, "%s is this switch's own address (%s)", text, us->key);
    else if (us->known && is_near(us, *ip) && (why = setting_unusable_ip(*ip, us->prefix)) != NULL)
        settings_fault(s, path, "%s/%u is %s", text, us->prefix, why);
    else
        return true;
    return false;
}

static void check_way(struct settings *s, const struct config *c, unsigned i, struct config_uplink *to)
{
    const struct own us = own_address(s, c, to);
    const char *path = settings_path(s, "uplink[%u].parent", i), *text = settings_text(s, path);
    bool parent;

    if (text == NULL)
        return; /* which was reported */
    parent = parse_address(s, &us, path, &to->parent);
    if (!settings_has(s, settings_path(s, "uplink[%u].via", i))) {
        if (parent && us.known && !is_near(&us, to->parent))
            settings_fault(s, path,
                           "%s is not in the network of %s, which has the prefix %u: name the router on the "
                           "way by uplink[%u].via",
                           text, us.key, us.prefix, i);
        return;
    }
    path = settings_path(s, "uplink[%u].via", i);
    text = settings_text(s, path);
    if (!parse_address(s, &us, path, &to->via))
        return;
    if (parent && to->via == to->parent)
        settings_fault(s, path, "%s is the parent itself: leave via out", text);
    else if (us.known && !is_near(&us, to->via))
        settings_fault(s, path,
                       "%s is not in the network of %s, which has the prefix %u, so there is no way to the "
                       "router",
                       text, us.key, us.prefix);
}

static void check_distinct(struct settings *s, const struct config *c, unsigned i)
{
    const char *path = settings_path(s, "uplink[%u].parent", i);

    if (settings_are_faulty(s, path))
        return;
    for (unsigned other = 0; other < i; other++)
        if (c->uplink[other].parent == c->uplink[i].parent &&
            c->uplink[other].network == c->uplink[i].network)
            settings_fault(s, path, "is the parent of uplink[%u] already: put the jobs of both there", other);
}

static void check_tenants(struct settings *s, const struct config *c, unsigned i, struct config_uplink *to)
{
    to->tenants = settings_has(s, settings_path(s, "uplink[%u].tenants", i)) ? 0 : UINT64_MAX;
    for (unsigned n = 0;; n++) {
        const char *path = settings_path(s, "uplink[%u].tenants[%u]", i, n), *name = settings_text(s, path);
        int tenant;

        if (name == NULL)
            return;
        tenant = config_find_tenant(s, c, path);
        to->tenants |= tenant < 0 ? 0 : UINT64_C(1) << tenant;
    }
}

/* Whoever has the key of the uplink's configuration is one tenant to the parent. */
static void check_key(struct settings *s, const struct config *c, unsigned i)
{
    const struct config_uplink *up = &c->uplink[i];
    const char *first = NULL, *other = NULL;

    for (unsigned tenant = 0; tenant < c->tenants && other == NULL; tenant++) {
        if (!(up->tenants >> tenant & 1) || c->tenant[tenant].key_file[0] == '\0')
            continue;
        *(first == NULL ? &first : &other) = c->tenant[tenant].name;
    }
    if (up->key_file[0] != '\0' && other != NULL)
        settings_fault(
            s, settings_path(s, "uplink[%u].key_file", i),
            "to the parent, who knows this key, jobs of %s and of %s would be one tenant's: leave one of "
            "them out of uplink[%u].tenants",
            first, other, i);
}

void config_check_uplinks(struct settings *s, struct config *c)
{
    for (unsigned i = 0; i < c->uplinks; i++) {
        struct config_uplink *to = &c->uplink[i];

        to->network = config_find_network(s, c, settings_path(s, "uplink[%u].vlan", i), to->vlan, true);
        check_way(s, c, i, to);
        check_distinct(s, c, i);
        check_tenants(s, c, i, to);
        config_complete_patterns(&to->jobs);
        check_key(s, c, i);
    }
    if (c->uplinks > 0 && !c->has_ip && !settings_are_faulty(s, "switch"))
        settings_fault(s, "uplink", "without switch.ip there is nobody whom a parent could answer");
}

int config_uplink_of(const struct config *c, unsigned network, int tenant, const char *job)
{
    for (unsigned i = 0; i < c->uplinks; i++)
        if (c->uplink[i].network == network && c->uplink[i].tenants >> tenant & 1 &&
            config_fits(&c->uplink[i].jobs, job))
            return (int)i;
    return -1;
}
