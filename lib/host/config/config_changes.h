/* What is different in another configuration, by key (config_keys.h). Ports, tenants and static jobs are the
 * same if they have the same name; lcores and replayed jobs, if they have the same number. Pure, any thread.
 */
#ifndef SWAGG_CONFIG_CONFIG_CHANGES_H
#define SWAGG_CONFIG_CONFIG_CHANGES_H

#include "config/config_keys.h"

enum { CONFIG_CHANGES_MAX = 256, CONFIG_KEY_MAX = 128, CONFIG_VALUE_MAX = 64 };

struct config_change {
    char key[CONFIG_KEY_MAX];                          /* "tenants[lab].quota.jobs" */
    char from[CONFIG_VALUE_MAX], to[CONFIG_VALUE_MAX]; /* in words; "-": nothing, or not shown */
    enum config_reload reload;
};

struct config_changes {
    unsigned n;                  /* that are listed: at most CONFIG_CHANGES_MAX */
    unsigned of[CONFIG_RELOADS]; /* how many there are of each kind, also those that are not listed */
    struct config_change change[CONFIG_CHANGES_MAX];
};

/* The ports of next have the numbers that they have in running (config_align.h). */
void config_compare(struct config_changes *changes, const struct config *running, const struct config *next);

/* Lists one more. A key that has several values is listed once: another of the key before is left out. */
void config_changes_add(struct config_changes *changes, const struct config_change *change);

/* The number of the item of this name in a list: ports, tenants, static jobs; -1: there is none. */
int config_find(const struct config *c, enum config_group_id list, const char *name);

/* Whether a value of this item, by its numbers in the two, needs this to be changed. */
bool config_item_differs(enum config_group_id list, const struct config *a, unsigned i,
                         const struct config *b, unsigned j, enum config_reload reload);

#endif
