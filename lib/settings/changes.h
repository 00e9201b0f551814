/* What is different in another configuration, by key. Items of a named list are the same if they have the
 * same name, those of others if they have the same place. Pure, any thread.
 */
#pragma once

#include "settings/settings.h"

enum { SETTINGS_CHANGES_MAX = 256, SETTINGS_KEY_MAX = 128, SETTINGS_VALUE_MAX = 64 };

struct settings_change {
    char key[SETTINGS_KEY_MAX];                            /* "tenants[lab].quota.jobs" */
    char from[SETTINGS_VALUE_MAX], to[SETTINGS_VALUE_MAX]; /* in words; "-": nothing, or not shown */
    enum setting_when when;
};

struct settings_changes {
    unsigned n;                 /* that are listed: at most SETTINGS_CHANGES_MAX */
    unsigned of[SETTING_WHENS]; /* how many there are of each kind, also those that are not listed */
    struct settings_change change[SETTINGS_CHANGES_MAX];
};

/* What a change takes that the one and the other say something of. */
enum setting_when setting_later(enum setting_when a, enum setting_when b);

/* Lists what is different. Items of a named list without a name are none. */
void settings_compare(struct settings_changes *changes, const struct setting *table, const void *running,
                      const void *next);

/* A value in words, of its first characters; "-": nothing, or not shown. */
void setting_show(char text[SETTING_SHOWN_MAX], const struct setting *setting, const void *configuration,
                  const void *at);

/* Lists one more. A key that has several values is listed once: another of the key before is left out. */
void settings_changes_add(struct settings_changes *changes, const struct settings_change *change);

/* The list of this key, which is in the table. */
const struct setting *settings_list(const struct setting *table, const char *key);

/* The place of the item of this name in a named list; -1: there is none. */
int settings_find(const struct setting *table, const char *list, const void *configuration, const char *name);

/* Whether a value of this item of a list, by its places in the two, needs this to be changed. */
bool settings_item_differs(const struct setting *table, const char *list, const void *a, unsigned i,
                           const void *b, unsigned j, enum setting_when when);
