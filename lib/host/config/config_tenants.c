/* The list of tenants: who may join which jobs. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "config/config_check.h"
#include "config/config_value.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct config_number numbers[] = {
    {"quota.jobs", offsetof(struct config_tenant, quota.jobs), 0, 256, 0},
    {"quota.slots", offsetof(struct config_tenant, quota.slots), 0, 1 << 22, 0},
    {"quota.megabytes", offsetof(struct config_tenant, quota.megabytes), 0, 1 << 20, 0},
    {"quota.kept_frames", offsetof(struct config_tenant, quota.kept_frames), 0, 1 << 23, 0},
    {"weight", offsetof(struct config_tenant, weight), 1, CONFIG_WEIGHT_MAX, 1},
};

enum { ITEM_MAX = 32 /* "addresses[0]" */ };

static const char *tenant_path(char path[CONFIG_PATH_MAX], unsigned tenant, const char *rest)
{
    snprintf(path, CONFIG_PATH_MAX, "tenants[%u].%s", tenant, rest);
    return path;
}

static void check_name(struct config_text *t, const struct config *c, unsigned tenant)
{
    const char *name = c->tenant[tenant].name;
    char path[CONFIG_PATH_MAX];

    tenant_path(path, tenant, "name");
    if (!config_text_has(t, path))
        return; /* reported by the schema */
    config_check_word(t, path, name);
    if (strchr(name, '/') != NULL) /* "lab/train" is train of lab */
        config_fault(t, path, "\"%s\" has a / in it, which separates tenants from their jobs", name);
    for (unsigned other = 0; other < tenant; other++)
        if (strcmp(c->tenant[other].name, name) == 0)
            config_fault(t, path, "\"%s\" is the name of tenants[%u] already", name, other);
}

static void check_addresses(struct config_text *t, unsigned i, const struct config_raw_tenant *raw,
                            struct config_tenant *to)
{
    char path[CONFIG_PATH_MAX], item[ITEM_MAX], text[64];

    to->addresses = raw->addresses_count;
    for (unsigned a = 0; a < to->addresses; a++) {
        snprintf(text, sizeof(text), "%s", raw->addresses[a]);
        snprintf(item, sizeof(item), "addresses[%u]", a);
        config_parse_network(t, tenant_path(path, i, item), text, &to->address[a].network,
                             &to->address[a].mask);
    }
    if (config_text_has(t, tenant_path(path, i, "addresses")))
        return;
    to->addresses = 1; /* all of them */
    if (to->key_file[0] == '\0' && !config_text_is_faulty(t, path))
        config_fault(t, path,
                     "is missing: without key_file, addresses alone say who this is; "
                     "[0.0.0.0/0] is everybody");
}

static void check_data_keys(struct config_text *t, unsigned i, struct config_tenant *to)
{
    char path[CONFIG_PATH_MAX];

    if (!config_text_has(t, tenant_path(path, i, "data_keys")))
        to->data_keys = to->key_file[0] != '\0';
    else if (to->data_keys && to->key_file[0] == '\0')
        config_fault(t, path, "there is no key to key data packets with: add key_file");
}

/* Without a list, everybody is one tenant. */
static void set_everybody(struct config *c)
{
    c->tenants = 1;
    c->tenant[0] = (struct config_tenant){
        .name = "everybody", .addresses = 1, .jobs = {.n = 1, .text = {"*"}}, .weight = 1};
}

void config_check_tenants(struct config_text *t, struct config_raw *raw)
{
    struct config *c = &raw->config;
    char path[CONFIG_PATH_MAX];

    if (!config_text_has(t, "tenants")) {
        set_everybody(c);
        return;
    }
    for (unsigned i = 0; i < c->tenants; i++) {
        c->tenant[i] = raw->tenant[i].tenant;
        check_name(t, c, i);
        check_addresses(t, i, &raw->tenant[i], &c->tenant[i]);
        config_parse_patterns(t, tenant_path(path, i, "jobs"), raw->tenant[i].jobs, raw->tenant[i].jobs_count,
                              &c->tenant[i].jobs);
        check_data_keys(t, i, &c->tenant[i]);
        config_default_numbers(t, tenant_path(path, i, ""), &c->tenant[i], numbers, COUNT(numbers));
        config_check_numbers(t, path, &c->tenant[i], numbers, COUNT(numbers));
    }
    if (c->ports > 0 && !c->has_ip && !config_text_is_faulty(t, "switch.ip"))
        config_fault(t, "tenants", "without switch.ip there is nothing to join");
}

int config_check_tenant_name(struct config_text *t, const char *path, const struct config *c,
                             const char *name)
{
    if (!config_text_has(t, path))
        return -1;
    for (unsigned i = 0; i < c->tenants; i++)
        if (strcmp(c->tenant[i].name, name) == 0)
            return (int)i;
    config_fault(t, path, "no tenant is called \"%s\"", name);
    return -1;
}

static bool has_address(const struct config_tenant *t, uint32_t ip)
{
    for (unsigned a = 0; a < t->addresses; a++)
        if ((ip & t->address[a].mask) == t->address[a].network)
            return true;
    return false;
}

int config_key_owner(const struct config *c, const char *job)
{
    for (unsigned i = 0; i < c->tenants; i++)
        if (c->tenant[i].key_file[0] != '\0' && config_fits(&c->tenant[i].jobs, job))
            return (int)i;
    return -1;
}

int config_tenant_of(const struct config *c, uint32_t ip, int key, const char *job)
{
    if (key < 0 && config_key_owner(c, job) >= 0)
        return -1;
    for (unsigned i = 0; i < c->tenants; i++)
        if ((key < 0 || key == (int)i) && has_address(&c->tenant[i], ip) &&
            config_fits(&c->tenant[i].jobs, job))
            return (int)i;
    return -1;
}
