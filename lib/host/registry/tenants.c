#include "registry/tenants.h"

#include <stdio.h>

void tenants_list(const struct config *cfg, struct ctl_tenant tenant[CONFIG_TENANTS_MAX])
{
    for (unsigned i = 0; i < cfg->tenants + cfg->leaving; i++)
        tenant[i] = (struct ctl_tenant){.name = cfg->tenant[i].name,
                                        .jobs = (uint16_t)cfg->tenant[i].quota.jobs,
                                        .elsewhere = (uint16_t)config_jobs_of(cfg, i),
                                        .data_keys = cfg->tenant[i].data_keys};
}

int tenants_admit(const struct config *cfg, const struct ctl_endpoint *from, int key, const char *name,
                  char text[CTL_TEXT_MAX])
{
    const uint8_t *ip = (const uint8_t *)&from->ip;
    const int tenant = config_tenant_of(cfg, from->ip, key, name), owner = config_key_owner(cfg, name);

    if (tenant >= 0 && config_has_job(cfg, tenant, name)) {
        snprintf(text, CTL_TEXT_MAX,
                 "a job of this name is in the %s's configuration, and nobody joins that one: call yours "
                 "otherwise",
                 config_word(cfg));
        return -1;
    }
    if (tenant >= 0)
        return tenant;
    if (key >= 0)
        snprintf(text, CTL_TEXT_MAX, "the key is tenant %s's, who has no jobs of this name at %u.%u.%u.%u",
                 cfg->tenant[key].name, ip[0], ip[1], ip[2], ip[3]);
    else if (owner >= 0)
        snprintf(
            text, CTL_TEXT_MAX,
            "jobs of this name need the key of tenant %s: set options.key_file, or SWAGG_KEY_FILE, to its "
            "key file",
            cfg->tenant[owner].name);
    else
        snprintf(text, CTL_TEXT_MAX, "none of the %s's tenants has %u.%u.%u.%u and jobs of this name",
                 config_word(cfg), ip[0], ip[1], ip[2], ip[3]);
    return tenant;
}
