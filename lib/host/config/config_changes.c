#include "config/config_changes.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { GROUP_NAME_MAX = 64 };

/* Where the values of a group are in the two configurations, and what its keys are called. */
struct pair {
    const struct config_group *group;
    const struct config *a, *b;
    const void *in_a, *in_b;
    char name[GROUP_NAME_MAX]; /* of the list's item */
};

/* Where lists are in struct config. Names are the first in their items. */
static const struct list {
    size_t count, first, stride;
    bool named;
} lists[CONFIG_GROUPS] = {
    [CONFIG_GROUP_PORTS] = {offsetof(struct config, ports), offsetof(struct config, port),
                            sizeof(struct config_port), true},
    [CONFIG_GROUP_LCORES] = {offsetof(struct config, placement.lcores),
                             offsetof(struct config, placement.lcore), sizeof(struct placement_lcore), false},
    [CONFIG_GROUP_TENANTS] = {offsetof(struct config, tenants), offsetof(struct config, tenant),
                              sizeof(struct config_tenant), true},
    [CONFIG_GROUP_UPLINK] = {offsetof(struct config, uplinks), offsetof(struct config, uplink),
                             sizeof(struct config_uplink), false},
    [CONFIG_GROUP_STATIC] = {offsetof(struct config, static_jobs), offsetof(struct config, static_job),
                             sizeof(struct config_static), true},
    [CONFIG_GROUP_HOSTAGG] = {offsetof(struct config, hostagg_jobs), offsetof(struct config, hostagg),
                              sizeof(struct config_hostagg), true},
    [CONFIG_GROUP_CLONE] = {offsetof(struct config, clone_jobs), offsetof(struct config, clone),
                            sizeof(struct config_clone), true},
    [CONFIG_GROUP_REPLAY] = {offsetof(struct config, replays), offsetof(struct config, replay),
                             sizeof(struct config_replay), false},
};

static_assert(offsetof(struct config_port, name) == 0 && offsetof(struct config_tenant, name) == 0 &&
                  offsetof(struct config_static, name) == 0 && offsetof(struct config_hostagg, name) == 0 &&
                  offsetof(struct config_clone, name) == 0,
              "names are the first");

static unsigned count_of(const struct config *c, enum config_group_id list)
{
    return *(const unsigned *)(const void *)((const char *)c + lists[list].count);
}

static const void *item_of(const struct config *c, enum config_group_id list, unsigned i)
{
    return (const char *)c + lists[list].first + i * lists[list].stride;
}

static const char *name_of(const struct config *c, enum config_group_id list, unsigned i)
{
    return item_of(c, list, i);
}

int config_find(const struct config *c, enum config_group_id list, const char *name)
{
    for (unsigned i = 0; i < count_of(c, list); i++)
        if (strcmp(name_of(c, list, i), name) == 0)
            return (int)i;
    return -1;
}

/* Values */

static uint64_t number_at(const void *at, size_t bytes)
{
    uint64_t value = 0;

    memcpy(&value, at, bytes); /* little endian, as all machines that this runs on */
    return value;
}

static const char *tenant_at(const struct config *c, const void *at)
{
    int tenant;

    memcpy(&tenant, at, sizeof(tenant));
    return tenant < 0 ? "-" : c->tenant[tenant].name;
}

static void show_fraction(char text[CONFIG_VALUE_MAX], const void *at)
{
    double value;

    memcpy(&value, at, sizeof(value));
    snprintf(text, CONFIG_VALUE_MAX, "%g", value);
}

static void show(char text[CONFIG_VALUE_MAX], const struct config_key *key, const struct config *c,
                 const void *at)
{
    const uint8_t *b = at;

    switch (key->form) {
    case CONFIG_NUMBER:
        snprintf(text, CONFIG_VALUE_MAX, "%" PRIu64, number_at(at, key->bytes));
        break;
    case CONFIG_OCTAL:
        snprintf(text, CONFIG_VALUE_MAX, "%" PRIo64, number_at(at, key->bytes));
        break;
    case CONFIG_WORD:
        snprintf(text, CONFIG_VALUE_MAX, "%s", key->words[number_at(at, key->bytes)]);
        break;
    case CONFIG_TEXT:
        snprintf(text, CONFIG_VALUE_MAX, "%s", b[0] == '\0' ? "-" : (const char *)at);
        break;
    case CONFIG_FRACTION:
        show_fraction(text, at);
        break;
    case CONFIG_MAC:
        snprintf(text, CONFIG_VALUE_MAX, "%02x:%02x:%02x:%02x:%02x:%02x", b[0], b[1], b[2], b[3], b[4], b[5]);
        break;
    case CONFIG_IP:
        snprintf(text, CONFIG_VALUE_MAX, "%u.%u.%u.%u", b[0], b[1], b[2], b[3]);
        break;
    case CONFIG_TENANT:
        snprintf(text, CONFIG_VALUE_MAX, "%s", tenant_at(c, at));
        break;
    case CONFIG_BYTES:
        snprintf(text, CONFIG_VALUE_MAX, "-");
        break;
    }
}

static bool same(const struct config_key *key, const struct pair *p, const void *x, const void *y)
{
    if (key->form == CONFIG_TEXT)
        return strcmp(x, y) == 0;
    if (key->form == CONFIG_TENANT)
        return strcmp(tenant_at(p->a, x), tenant_at(p->b, y)) == 0;
    return memcmp(x, y, key->bytes) == 0;
}

static const void *value_at(const void *group, const struct config_key *key, unsigned i)
{
    return (const char *)group + key->offset + i * key->stride;
}

/* The first that is different of a key's values; -1: none is. */
static int find_different(const struct config_key *key, const struct pair *p)
{
    const unsigned times = key->times == 0 ? 1 : key->times;

    for (unsigned i = 0; i < times; i++)
        if (!same(key, p, value_at(p->in_a, key, i), value_at(p->in_b, key, i)))
            return (int)i;
    return -1;
}

/* An item of each. */
static struct pair pair_of(enum config_group_id list, const struct config *a, unsigned i,
                           const struct config *b, unsigned j)
{
    struct pair p = {.group = &config_groups[list],
                     .a = a,
                     .b = b,
                     .in_a = item_of(a, list, i),
                     .in_b = item_of(b, list, j)};

    if (lists[list].named)
        snprintf(p.name, sizeof(p.name), "%s", name_of(a, list, i));
    else
        snprintf(p.name, sizeof(p.name), "%u", i);
    return p;
}

bool config_item_differs(enum config_group_id list, const struct config *a, unsigned i,
                         const struct config *b, unsigned j, enum config_reload reload)
{
    const struct pair p = pair_of(list, a, i, b, j);

    for (unsigned k = 0; k < p.group->keys; k++)
        if (p.group->key[k].reload == reload && find_different(&p.group->key[k], &p) >= 0)
            return true;
    return false;
}

/* Listing */

void config_changes_add(struct config_changes *changes, const struct config_change *change)
{
    const struct config_change *last = changes->n == 0 ? NULL : &changes->change[changes->n - 1];

    if (last != NULL && strcmp(last->key, change->key) == 0)
        return;
    changes->of[change->reload]++;
    if (changes->n < CONFIG_CHANGES_MAX)
        changes->change[changes->n++] = *change;
}

static void compare_key(struct config_changes *changes, const struct config_key *key, const struct pair *p)
{
    const size_t list = strlen(p->group->list);
    struct config_change change = {.reload = key->reload};
    const int at = find_different(key, p);

    if (at < 0)
        return;
    if (list == 0)
        snprintf(change.key, sizeof(change.key), "%s", key->path);
    else
        snprintf(change.key, sizeof(change.key), "%s[%s]%s", p->group->list, p->name, key->path + list);
    show(change.from, key, p->a, value_at(p->in_a, key, (unsigned)at));
    show(change.to, key, p->b, value_at(p->in_b, key, (unsigned)at));
    if (key->form == CONFIG_BYTES)
        snprintf(change.to, sizeof(change.to), "changed");
    config_changes_add(changes, &change);
}

static void compare_group(struct config_changes *changes, const struct pair *p)
{
    for (unsigned k = 0; k < p->group->keys; k++)
        compare_key(changes, &p->group->key[k], p);
}

/* What becomes of items that are in one list alone. */
static void add_item(struct config_changes *changes, enum config_group_id list, const char *name,
                     const char *what, enum config_reload reload)
{
    struct config_change change = {.from = "-", .reload = reload};

    snprintf(change.key, sizeof(change.key), "%s[%s]", config_groups[list].list, name);
    snprintf(change.to, sizeof(change.to), "%s", what);
    config_changes_add(changes, &change);
}

static bool is_hole(const struct config *c, enum config_group_id list, unsigned i)
{
    return name_of(c, list, i)[0] == '\0';
}

/* come, gone: what it takes that an item is new in the list, or is in it no more. */
static void compare_named(struct config_changes *changes, enum config_group_id list, const struct config *a,
                          const struct config *b, enum config_reload come, enum config_reload gone)
{
    for (unsigned i = 0; i < count_of(a, list); i++) {
        const int j = config_find(b, list, name_of(a, list, i));

        if (is_hole(a, list, i))
            continue;
        if (j < 0) {
            add_item(changes, list, name_of(a, list, i), "removed", gone);
        } else {
            const struct pair p = pair_of(list, a, i, b, (unsigned)j);

            compare_group(changes, &p);
        }
    }
    for (unsigned j = 0; j < count_of(b, list); j++)
        if (!is_hole(b, list, j) && config_find(a, list, name_of(b, list, j)) < 0)
            add_item(changes, list, name_of(b, list, j), "added", come);
}

/* Lists whose items are known by their places must not become longer or shorter. */
static void compare_numbered(struct config_changes *changes, enum config_group_id list,
                             const struct config *a, const struct config *b)
{
    struct config_change change = {.reload = CONFIG_RESTART};

    if (count_of(a, list) != count_of(b, list)) {
        snprintf(change.key, sizeof(change.key), "%s", config_groups[list].list);
        snprintf(change.from, sizeof(change.from), "%u items", count_of(a, list));
        snprintf(change.to, sizeof(change.to), "%u items", count_of(b, list));
        config_changes_add(changes, &change);
        return;
    }
    for (unsigned i = 0; i < count_of(a, list); i++) {
        const struct pair p = pair_of(list, a, i, b, i);

        compare_group(changes, &p);
    }
}

/* Who belongs to several tenants belongs to the first of them. */
static void compare_order_of_tenants(struct config_changes *changes, const struct config *a,
                                     const struct config *b)
{
    int before = -1;

    for (unsigned i = 0; i < a->tenants; i++) {
        const int j = config_find(b, CONFIG_GROUP_TENANTS, a->tenant[i].name);

        if (j < 0)
            continue;
        if (j < before) {
            struct config_change change = {
                .key = "tenants", .from = "-", .to = "in another order", .reload = CONFIG_AT_ONCE};

            config_changes_add(changes, &change);
            return;
        }
        before = j;
    }
}

void config_compare(struct config_changes *changes, const struct config *running, const struct config *next)
{
    const struct pair file = {
        .group = &config_groups[CONFIG_GROUP_FILE], .a = running, .b = next, .in_a = running, .in_b = next};

    memset(changes, 0, sizeof(*changes));
    compare_group(changes, &file);
    compare_named(changes, CONFIG_GROUP_PORTS, running, next, CONFIG_AT_ONCE, CONFIG_AT_ONCE);
    compare_numbered(changes, CONFIG_GROUP_LCORES, running, next);
    compare_named(changes, CONFIG_GROUP_TENANTS, running, next, CONFIG_AT_ONCE, CONFIG_AT_ONCE);
    compare_order_of_tenants(changes, running, next);
    compare_numbered(changes, CONFIG_GROUP_UPLINK, running, next);
    compare_named(changes, CONFIG_GROUP_STATIC, running, next, CONFIG_AT_ONCE, CONFIG_WHEN_QUIET);
    compare_named(changes, CONFIG_GROUP_HOSTAGG, running, next, CONFIG_RESTART, CONFIG_RESTART);
    compare_named(changes, CONFIG_GROUP_CLONE, running, next, CONFIG_RESTART, CONFIG_RESTART);
    compare_numbered(changes, CONFIG_GROUP_REPLAY, running, next);
}
