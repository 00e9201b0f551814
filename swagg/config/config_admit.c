/* The list of who may join which jobs. */
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "config/config_check.h"
#include "config/config_value.h"

void config_check_admit(struct config_text *t, struct config_raw *raw)
{
    struct config *c = &raw->config;
    char path[CONFIG_PATH_MAX];

    c->has_admit = config_text_has(t, "admit");
    for (unsigned i = 0; i < c->admits; i++) {
        struct config_admit *a = &c->admit[i];

        snprintf(path, sizeof(path), "admit[%u].jobs", i);
        snprintf(a->jobs, sizeof(a->jobs), "%s", config_text_has(t, path) ? raw->admit[i].jobs : "*");
        snprintf(path, sizeof(path), "admit[%u].from", i);
        if (config_text_has(t, path))
            config_parse_network(t, path, raw->admit[i].from, &a->network, &a->mask);
    }
    if (c->has_admit && !c->has_ip && !config_text_is_faulty(t, "switch.ip"))
        config_fault(t, "admit", "without switch.ip there is nothing to join");
}

bool config_admits(const struct config *c, uint32_t ip, const char *job)
{
    for (unsigned i = 0; i < c->admits; i++)
        if ((ip & c->admit[i].mask) == c->admit[i].network && fnmatch(c->admit[i].jobs, job, 0) == 0)
            return true;
    return !c->has_admit;
}
