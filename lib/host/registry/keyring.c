#include "registry/keyring.h"

#include <errno.h>
#include <string.h>

#include "base/log.h"

/* Two tenants with one key could not be told apart. */
static int add(struct keyring *ring, const struct config *cfg, unsigned tenant, const struct keys_key *key)
{
    for (unsigned i = 0; i < ring->keys; i++)
        if (ring->key[i].key.id == key->id)
            return log_fail(
                -EEXIST,
                "tenants[%u].key_file: %s has a key that stands in %s already: each key is there once",
                tenant, cfg->tenant[tenant].key_file, cfg->tenant[ring->key[i].tenant].key_file);
    ring->key[ring->keys++] = (struct ctl_tenant_key){.key = *key, .tenant = (int)tenant};
    return 0;
}

static int load_uplinks(struct keyring *ring, const struct config *cfg)
{
    char why[KEY_FILE_WHY_MAX];

    for (unsigned u = 0; u < cfg->uplinks; u++) {
        const char *path = cfg->uplink[u].key_file;
        int rc = path[0] == '\0' ? 0 : key_file_read(&ring->uplink[u], path, why);

        if (rc < 0)
            return log_fail(rc, "uplink[%u].key_file: %s", u, why);
    }
    return 0;
}

int keyring_load(struct keyring *ring, const struct config *cfg)
{
    char why[KEY_FILE_WHY_MAX];
    struct key_file file;

    *ring = (struct keyring){0};
    for (unsigned tenant = 0; tenant < cfg->tenants; tenant++) {
        const char *path = cfg->tenant[tenant].key_file;
        int rc = path[0] == '\0' ? 0 : key_file_read(&file, path, why);

        if (rc < 0)
            return log_fail(rc, "tenants[%u].key_file: %s", tenant, why);
        for (unsigned i = 0; path[0] != '\0' && i < file.keys; i++) {
            rc = add(ring, cfg, tenant, &file.key[i]);
            if (rc < 0)
                return rc;
        }
    }
    return load_uplinks(ring, cfg);
}

bool keyring_is_good(const struct config *cfg)
{
    struct keyring ring;
    const bool good = keyring_load(&ring, cfg) == 0;

    keys_erase(&ring, sizeof(ring));
    return good;
}

static int find(const struct keyring *ring, uint64_t id)
{
    for (unsigned i = 0; i < ring->keys; i++)
        if (ring->key[i].tenant != CTL_NO_KEY && ring->key[i].key.id == id)
            return (int)i;
    return -1;
}

/* What becomes of place i: the same key, if it is still there; that key, retired, if it is used; or nothing.
 */
static int follow_place(struct keyring *to, unsigned i, const struct keyring *loaded,
                        const struct keyring_before *before, const struct config *cfg)
{
    const struct ctl_tenant_key *was = &before->ring->key[i];
    const bool used = was->tenant != CTL_NO_KEY && before->is_used(before->context, i);
    const int now = was->tenant == CTL_NO_KEY ? -1 : find(loaded, was->key.id);

    to->key[i] = (struct ctl_tenant_key){.tenant = CTL_NO_KEY};
    if (now >= 0 && used && loaded->key[now].tenant != before->tenant[was->tenant])
        return log_fail(-EBUSY,
                        "tenants[%d].key_file: %s has a key of another tenant's, whose jobs still use it",
                        loaded->key[now].tenant, cfg->tenant[loaded->key[now].tenant].key_file);
    if (now >= 0)
        to->key[i] = loaded->key[now];
    else if (used)
        to->key[i] = (struct ctl_tenant_key){was->key, before->tenant[was->tenant], .retired = true};
    return 0;
}

/* A free place, the first one after the last if there is none before; -1: there is none at all. */
static int free_place(struct keyring *ring)
{
    for (unsigned i = 0; i < ring->keys; i++)
        if (ring->key[i].tenant == CTL_NO_KEY)
            return (int)i;
    return ring->keys < KEYRING_KEYS ? (int)ring->keys++ : -1;
}

int keyring_follow(struct keyring *ring, const struct keyring_before *before, const struct config *cfg)
{
    struct keyring to = {.keys = before->ring->keys};
    int rc = 0;

    memcpy(to.uplink, ring->uplink, sizeof(to.uplink));
    for (unsigned i = 0; i < to.keys && rc == 0; i++)
        rc = follow_place(&to, i, ring, before, cfg);
    for (unsigned i = 0; i < ring->keys && rc == 0; i++) {
        const int known = find(&to, ring->key[i].key.id);
        const int place = known >= 0 ? known : free_place(&to);

        if (place < 0) {
            log_error("tenants: there are more than %d keys, with those that are gone but which running jobs "
                      "have",
                      KEYRING_KEYS);
            rc = -ENOSPC;
        } else {
            to.key[place] = ring->key[i];
        }
    }
    if (rc == 0)
        *ring = to;
    keys_erase(&to, sizeof(to));
    return rc;
}

/* Whether place i has a key of this tenant's with which its processes may join jobs. */
static bool opens(const struct keyring *ring, unsigned i, int tenant)
{
    return i < ring->keys && tenant != CTL_NO_KEY && ring->key[i].tenant == tenant && !ring->key[i].retired;
}

struct keyring_changes keyring_compare(const struct keyring *ring, const struct keyring_before *before,
                                       unsigned tenant)
{
    struct keyring_changes c = {0};

    for (unsigned i = 0; i < KEYRING_KEYS; i++) {
        const int was = i < before->ring->keys ? before->ring->key[i].tenant : CTL_NO_KEY;
        const bool had =
            was != CTL_NO_KEY && before->tenant[was] == (int)tenant && opens(before->ring, i, was);
        const bool has = opens(ring, i, (int)tenant);
        const bool same = had && has && ring->key[i].key.id == before->ring->key[i].key.id;

        c.added += has && !same;
        c.gone += had && !same;
    }
    return c;
}

static bool has_key(const struct key_file *file, uint64_t id)
{
    for (unsigned i = 0; i < file->keys; i++)
        if (file->key[i].id == id)
            return true;
    return false;
}

/* How many of its keys the other one lacks. */
static unsigned count_lacking(const struct key_file *file, const struct key_file *other)
{
    unsigned n = 0;

    for (unsigned i = 0; i < file->keys; i++)
        n += !has_key(other, file->key[i].id);
    return n;
}

struct keyring_changes keyring_compare_uplink(const struct keyring *ring, const struct keyring *before,
                                              unsigned uplink)
{
    return (struct keyring_changes){.added = count_lacking(&ring->uplink[uplink], &before->uplink[uplink]),
                                    .gone = count_lacking(&before->uplink[uplink], &ring->uplink[uplink])};
}
