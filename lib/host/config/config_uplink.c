/* The list of uplinks: the switches above this one, and which jobs go on to them. */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "config/config_check.h"
#include "config/config_value.h"

static const char *uplink_path(char path[CONFIG_PATH_MAX], unsigned uplink, const char *key)
{
    snprintf(path, CONFIG_PATH_MAX, "uplink[%u].%s", uplink, key);
    return path;
}

/* The switch's address in the network of an uplink. */
struct own {
    bool known; /* it has one, and it is good */
    const char *key;
    uint32_t ip;
    uint8_t prefix;
};

static struct own own_address(struct config_text *t, const struct config *c, const struct config_uplink *to)
{
    const struct config_vlan *vlan = &c->vlan[to->network];
    const char *key = c->vlans > 0 ? "switch.vlans" : "switch.ip";

    return (struct own){.known = c->has_ip && !config_text_is_faulty(t, key),
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
static bool parse_address(struct config_text *t, const struct own *us, const char *path, const char *text,
                          uint32_t *ip)
{
    char copy[64];
    uint8_t prefix;

    snprintf(copy, sizeof(copy), "%s", text);
    config_parse_ip(t, path, copy, ip, &prefix);
    if (config_text_is_faulty(t, path))
        return false;
    if (strchr(text, '/') != NULL)
        config_fault(t, path, "\"%s\" has a prefix: write the address alone, %s", text, copy);
    else if (us->known && *ip == us->ip)
        config_fault(t, path, "%s is this switch's own address (%s)", text, us->key);
    else
        return true;
    return false;
}

static void check_way(struct config_text *t, const struct config *c, unsigned i,
                      const struct config_raw_uplink *raw, struct config_uplink *to)
{
    const struct own us = own_address(t, c, to);
    char path[CONFIG_PATH_MAX];
    bool parent;

    uplink_path(path, i, "parent");
    if (!config_text_has(t, path) || config_text_is_faulty(t, path))
        return; /* reported by the schema */
    parent = parse_address(t, &us, path, raw->parent, &to->parent);
    if (!config_text_has(t, uplink_path(path, i, "via"))) {
        if (parent && us.known && !is_near(&us, to->parent))
            config_fault(t, uplink_path(path, i, "parent"),
                         "%s is not in the network of %s, which has the prefix %u: name the router on the "
                         "way by uplink[%u].via",
                         raw->parent, us.key, us.prefix, i);
        return;
    }
    if (config_text_is_faulty(t, path) || !parse_address(t, &us, path, raw->via, &to->via))
        return;
    if (parent && to->via == to->parent)
        config_fault(t, path, "%s is the parent itself: leave via out", raw->via);
    else if (us.known && !is_near(&us, to->via))
        config_fault(t, path,
                     "%s is not in the network of %s, which has the prefix %u, so there is no way to the "
                     "router",
                     raw->via, us.key, us.prefix);
}

static void check_distinct(struct config_text *t, const struct config *c, unsigned i)
{
    char path[CONFIG_PATH_MAX];

    if (config_text_is_faulty(t, uplink_path(path, i, "parent")))
        return;
    for (unsigned other = 0; other < i; other++)
        if (c->uplink[other].parent == c->uplink[i].parent &&
            c->uplink[other].network == c->uplink[i].network)
            config_fault(t, path, "is the parent of uplink[%u] already: put the jobs of both there", other);
}

static void check_tenants(struct config_text *t, const struct config *c, unsigned i,
                          const struct config_raw_uplink *raw, struct config_uplink *to)
{
    char path[CONFIG_PATH_MAX], item[32];

    to->tenants = config_text_has(t, uplink_path(path, i, "tenants")) ? 0 : UINT64_MAX;
    for (unsigned n = 0; n < raw->tenants_count; n++) {
        int tenant;

        snprintf(item, sizeof(item), "tenants[%u]", n);
        if (config_text_is_faulty(t, uplink_path(path, i, item)))
            continue;
        tenant = config_check_tenant_name(t, path, c, raw->tenants[n]);
        to->tenants |= tenant < 0 ? 0 : UINT64_C(1) << tenant;
    }
}

/* Whoever has the key of the uplink's configuration is one tenant to the parent. */
static void check_key(struct config_text *t, const struct config *c, unsigned i)
{
    const struct config_uplink *up = &c->uplink[i];
    const char *first = NULL, *other = NULL;
    char path[CONFIG_PATH_MAX];

    for (unsigned tenant = 0; tenant < c->tenants && other == NULL; tenant++) {
        if (!(up->tenants >> tenant & 1) || c->tenant[tenant].key_file[0] == '\0')
            continue;
        *(first == NULL ? &first : &other) = c->tenant[tenant].name;
    }
    if (up->key_file[0] != '\0' && other != NULL)
        config_fault(
            t, uplink_path(path, i, "key_file"),
            "to the parent, who knows this key, jobs of %s and of %s would be one tenant's: leave one of "
            "them out of uplink[%u].tenants",
            first, other, i);
}

void config_check_uplinks(struct config_text *t, struct config_raw *raw)
{
    struct config *c = &raw->config;
    char path[CONFIG_PATH_MAX];

    for (unsigned i = 0; i < c->uplinks; i++) {
        c->uplink[i] = raw->uplink[i].uplink;
        config_check_job_vlan(t, uplink_path(path, i, "vlan"), c, c->uplink[i].vlan, true,
                              &c->uplink[i].network);
        check_way(t, c, i, &raw->uplink[i], &c->uplink[i]);
        check_distinct(t, c, i);
        check_tenants(t, c, i, &raw->uplink[i], &c->uplink[i]);
        config_parse_patterns(t, uplink_path(path, i, "jobs"), raw->uplink[i].jobs, raw->uplink[i].jobs_count,
                              &c->uplink[i].jobs);
        check_key(t, c, i);
    }
    if (c->uplinks > 0 && !c->has_ip && !config_text_is_faulty(t, "switch"))
        config_fault(t, "uplink", "without switch.ip there is nobody whom a parent could answer");
}

int config_uplink_of(const struct config *c, unsigned network, int tenant, const char *job)
{
    for (unsigned i = 0; i < c->uplinks; i++)
        if (c->uplink[i].network == network && c->uplink[i].tenants >> tenant & 1 &&
            config_fits(&c->uplink[i].jobs, job))
            return (int)i;
    return -1;
}
