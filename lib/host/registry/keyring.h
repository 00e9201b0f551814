/* The keys of all tenants, as the registry has them, and those by which switches above know this one. */
#pragma once

#include "config/config.h"
#include "control/registry.h"
#include "key_file.h"

enum { KEYRING_KEYS = CONFIG_TENANTS_MAX * KEY_FILE_KEYS };

struct keyring {
    unsigned keys;
    struct ctl_tenant_key key[KEYRING_KEYS];   /* the tenants by their indexes in config */
    struct key_file uplink[SWAGG_MAX_UPLINKS]; /* keys 0: it has none */
};

/* The keys until now. */
struct keyring_before {
    const struct keyring *ring;
    const int *tenant;                                /* by the number until now: that in cfg */
    bool (*is_used)(const void *context, unsigned i); /* somebody in a job has key i */
    const void *context;
};

/* Gives the keys of a ring that was just loaded places beside those before: a key that was there keeps its
 * place; one that is used but no longer in the files is there, too, but retired. Places that nobody has are
 * CTL_NO_KEY's. 0, or -errno after logging: -EBUSY, a key was another tenant's, whose jobs use it; -ENOSPC,
 * there are too many. */
int keyring_follow(struct keyring *ring, const struct keyring_before *before, const struct config *cfg);

/* How many keys a tenant of cfg has that it had not, and how many are retired or forgotten since. */
struct keyring_changes {
    unsigned added, gone;
};
/* The same of an uplink. */
struct keyring_changes keyring_compare_uplink(const struct keyring *ring, const struct keyring *before,
                                              unsigned uplink);
struct keyring_changes keyring_compare(const struct keyring *ring, const struct keyring_before *before,
                                       unsigned tenant);

/* Reads the key files of the configuration. 0, or -errno after logging which file is wrong, and how. */
int keyring_load(struct keyring *ring, const struct config *cfg);

/* Whether that can be done, for who needs no more than the answer now. */
bool keyring_is_good(const struct config *cfg);
