#include "tenancy.h"

#include <stdio.h>
#include <string.h>

#include "share/quota.h"

int tenancy_of(const struct tenancy *t, unsigned host, int key, const char *name, char text[CTL_TEXT_MAX])
{
    if (t->tenants == 0)
        return 0;
    snprintf(text, CTL_TEXT_MAX, "jobs of this name need another key");
    for (unsigned i = 0; i < t->names; i++) {
        if (strcmp(t->name[i].job, name) != 0)
            continue;
        if (key == (int)t->name[i].tenant)
            return key;
        if (key == CTL_NO_KEY && t->tenant[t->name[i].tenant].keyed)
            return -1;
    }
    return key == CTL_NO_KEY ? t->of_host[host] : -1;
}

bool tenancy_has_room(const struct tenancy *t, const struct tenancy_slots *slots, int tenant, unsigned asked,
                      char text[CTL_TEXT_MAX])
{
    struct share_quota quota[2] = {{.kind = SHARE_SLOTS,
                                    .max = slots->max,
                                    .held = slots->used,
                                    .key = "pool.slots",
                                    .whose = "the switch"}};
    const uint64_t wanted[SHARE_KINDS] = {[SHARE_SLOTS] = asked};
    unsigned n = 1;

    if (t->tenants > 0) {
        quota[n] = (struct share_quota){
            .kind = SHARE_SLOTS, .max = t->tenant[tenant].slots, .held = slots->of_tenant[tenant]};
        snprintf(quota[n].key, SHARE_WORDS_MAX, "tenants[%d].quota.slots", tenant);
        snprintf(quota[n++].whose, SHARE_WORDS_MAX, "tenant %s", t->tenant[tenant].name);
    }
    const struct share_quota *lacking = share_exceeded(quota, n, wanted);
    if (lacking != NULL)
        share_refusal(text, CTL_TEXT_MAX, lacking, asked, NULL, 0);
    return lacking == NULL;
}

bool tenancy_names_key(const char *refusal)
{
    static const char *const keys[] = {"pool.slots", "].quota.slots", "].quota.jobs", "limits.jobs"};

    for (unsigned i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        if (strstr(refusal, keys[i]) != NULL)
            return true;
    return false;
}
