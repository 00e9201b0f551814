/* The keys of all tenants, as the registry has them. */
#ifndef SWAGG_CONTROL_KEYRING_H
#define SWAGG_CONTROL_KEYRING_H

#include "config/config.h"
#include "control/registry.h"
#include "key_file.h"

struct keyring {
    unsigned keys;
    struct ctl_tenant_key
        key[CONFIG_TENANTS_MAX * KEY_FILE_KEYS]; /* the tenants by their indexes in config */
};

/* Reads the key files of the configuration. 0, or -errno after logging which file is wrong, and how. */
int keyring_load(struct keyring *ring, const struct config *cfg);

#endif
