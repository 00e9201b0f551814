/* A registry that is to follow another configuration while its jobs go on: first all is made that may fail,
 * and then taken over. Whoever has the registry calls, from the thread that changes it.
 */
#ifndef SWAGG_CONTROL_REGISTRY_NEXT_H
#define SWAGG_CONTROL_REGISTRY_NEXT_H

#include "config/config_changes.h"
#include "registry/keyring.h"

struct registry_next {
    struct keyring keyring;
    void *memory; /* for the registry */
};

/* Checks that cfg has room for what is in use, and reads its keys, beside those before. 0, or -errno after
 * logging. next: all zero; registry_next_forget follows in any case. */
int registry_next_read(struct registry_next *next, const struct ctl_registry *registry,
                       const struct keyring_before *before, const struct config *cfg);

/* Takes the memory, config being made of next's keys. 0, or -ENOMEM after logging. */
int registry_next_reserve(struct registry_next *next, const struct ctl_registry_config *config);

/* Lists the keys that are new or gone, which the configurations themselves do not show. */
void registry_next_compare(const struct registry_next *next, const struct keyring_before *before,
                           const struct config *cfg, struct config_changes *changes);

/* The registry goes on with this configuration; the old one is freed. tenant: as in ctl_registry_move. */
struct ctl_registry *registry_next_take(struct registry_next *next, const struct ctl_registry_config *config,
                                        struct ctl_registry *old, const int tenant[]);

/* Erases keys, frees memory that was not taken. */
void registry_next_forget(struct registry_next *next);

/* The tenants whom jobs of the registry belong to: bit t is that of tenant t. entries: of the registry. */
uint64_t registry_tenants(const struct ctl_registry *registry, unsigned entries);

#endif
