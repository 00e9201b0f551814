#include "control/keyring.h"

#include <errno.h>

#include "base/log.h"

/* Two tenants with one key could not be told apart. */
static int add(struct keyring *ring, const struct config *cfg, unsigned tenant, const struct keys_key *key)
{
    for (unsigned i = 0; i < ring->keys; i++)
        if (ring->key[i].key.id == key->id) {
            log_error("tenants[%u].key_file: %s has a key that stands in %s already: each key is there once",
                      tenant, cfg->tenant[tenant].key_file, cfg->tenant[ring->key[i].tenant].key_file);
            return -EEXIST;
        }
    ring->key[ring->keys++] = (struct ctl_tenant_key){.key = *key, .tenant = (int)tenant};
    return 0;
}

int keyring_load(struct keyring *ring, const struct config *cfg)
{
    char why[KEY_FILE_WHY_MAX];
    struct key_file file;

    ring->keys = 0;
    for (unsigned tenant = 0; tenant < cfg->tenants; tenant++) {
        const char *path = cfg->tenant[tenant].key_file;
        int rc = path[0] == '\0' ? 0 : key_file_read(&file, path, why);

        if (rc < 0) {
            log_error("tenants[%u].key_file: %s", tenant, why);
            return rc;
        }
        for (unsigned i = 0; path[0] != '\0' && i < file.keys; i++) {
            rc = add(ring, cfg, tenant, &file.key[i]);
            if (rc < 0)
                return rc;
        }
    }
    return 0;
}
