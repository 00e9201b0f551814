/* Every key of the configuration: where its value is in struct config, and what a change of it takes while
 * the switch runs (docs/configuration.md, "Changing it while it runs"). Pure, any thread.
 */
#ifndef SWAGG_CONFIG_CONFIG_KEYS_H
#define SWAGG_CONFIG_CONFIG_KEYS_H

#include <stddef.h>
#include <stdint.h>

#include "config/config.h"

enum config_reload {
    CONFIG_AT_ONCE,    /* a reload changes it */
    CONFIG_NEW_JOBS,   /* ... for jobs that begin from then on */
    CONFIG_WHEN_QUIET, /* ... of a static job, while that is quiet; else it is refused */
    CONFIG_RESTART,    /* a reload that would change it is refused */
    CONFIG_RELOADS
};

/* How a value is compared and shown. */
enum config_form {
    CONFIG_NUMBER, /* unsigned, of 1, 2, 4 or 8 bytes */
    CONFIG_OCTAL,
    CONFIG_WORD, /* a number that stands for one of words */
    CONFIG_TEXT,
    CONFIG_FRACTION, /* a double */
    CONFIG_MAC,
    CONFIG_IP,     /* network order */
    CONFIG_TENANT, /* an int, the number of a tenant or -1; the same if the names are */
    CONFIG_BYTES   /* not shown */
};

struct config_key {
    const char *path; /* "tenants.quota.jobs": without the numbers of a list's items */
    enum config_reload reload;
    enum config_form form;
    size_t offset, bytes;     /* in the struct of its group */
    const char *const *words; /* by value; of CONFIG_WORD */
    size_t stride;            /* from one value to the next, of a list within the group */
    unsigned times;           /* how many there are; 0: one, and no stride */
};

enum config_group_id {
    CONFIG_GROUP_FILE,    /* of struct config */
    CONFIG_GROUP_PORTS,   /* of each struct config_port */
    CONFIG_GROUP_LCORES,  /* placement_lcore */
    CONFIG_GROUP_TENANTS, /* config_tenant */
    CONFIG_GROUP_UPLINK,  /* config_uplink */
    CONFIG_GROUP_STATIC,  /* config_static */
    CONFIG_GROUP_HOSTAGG, /* config_hostagg */
    CONFIG_GROUP_CLONE,   /* config_clone */
    CONFIG_GROUP_REPLAY,  /* config_replay */
    CONFIG_GROUPS
};

/* Keys whose values are in one kind of struct. */
struct config_group {
    const char *list; /* "tenants"; "": the keys are in no list */
    const struct config_key *key;
    unsigned keys;
};

extern const struct config_group config_groups[CONFIG_GROUPS];

#endif
