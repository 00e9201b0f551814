/* Whose the jobs of a switch are, and what each tenant may have: what lib/host/config (config_tenant_of) and
 * swagg/aggregate (jobs_share.c) do. */
#pragma once

#include "control/registry.h"

enum { TENANTS_MAX = 3, TENANCY_NAMES_MAX = 3 };

struct tenant {
    char name[16];
    uint16_t jobs; /* quotas, of jobs and of slots; 0: none */
    unsigned slots;
    uint32_t weight;
    bool keyed, data_keys; /* data_keys: and so are its jobs' data packets */
    struct keys_key key;
};

/* Everybody is tenant 0 where there are none. */
struct tenancy {
    unsigned tenants;
    struct tenant tenant[TENANTS_MAX];
    struct {
        char job[CTL_NAME_MAX];
        unsigned tenant;
    } name[TENANCY_NAMES_MAX]; /* what jobs of tenants are called; two tenants may have the same name */
    unsigned names;
    const uint8_t *of_host; /* whose processes run there */
    bool leaves_keyed;      /* switches below have a key, too, another one of tenant 0 */
    struct keys_key leaf_key;
};

/* As ctl_registry_actions.tenant_of. */
int tenancy_of(const struct tenancy *t, unsigned host, int key, const char *name, char text[CTL_TEXT_MAX]);

/* Who has how many slots. */
struct tenancy_slots {
    unsigned max, used, of_tenant[TENANTS_MAX];
};

/* Whether a tenant's job may have so many; false: text says which quota has no room for them. */
bool tenancy_has_room(const struct tenancy *t, const struct tenancy_slots *slots, int tenant, unsigned asked,
                      char text[CTL_TEXT_MAX]);

/* Whether a refusal names the key by which the bound is lifted. */
bool tenancy_names_key(const char *refusal);
