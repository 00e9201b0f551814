#include "settings/changes.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Two configurations, and where in them what is compared is. */
struct pair {
    const void *a, *b;
    const char *in_a, *in_b;
    size_t stride; /* from one value to the next, of a list in an item or group */
    uint64_t times;
    enum setting_when when; /* of the group or list that it is in */
};

enum setting_when setting_later(enum setting_when a, enum setting_when b)
{
    return a > b ? a : b;
}

/* Values */

static uint64_t number_at(const void *at, size_t bytes)
{
    uint64_t value = 0;

    memcpy(&value, at, bytes); /* little endian, as all machines that this runs on */
    return value;
}

static const char *word_at(const struct setting *setting, const void *at)
{
    const struct setting_word *w = setting->words;

    while (w->word != NULL && w->value != number_at(at, setting->bytes))
        w++;
    return w->word != NULL ? w->word : "-";
}

/* Whether it can be told what it was and is. */
static bool is_shown(const struct setting *setting)
{
    return setting->show != NULL || (setting->type != SETTING_PARSED && setting->type != SETTING_LATER &&
                                     setting->type != SETTING_LIST);
}

void setting_show(char text[SETTING_SHOWN_MAX], const struct setting *setting, const void *configuration,
                  const void *at)
{
    double share;

    snprintf(text, SETTING_SHOWN_MAX, "-");
    if (setting->show != NULL) {
        setting->show(text, configuration, at);
        return;
    }
    switch (setting->type) {
    case SETTING_NUMBER:
    case SETTING_MORE:
        snprintf(text, SETTING_SHOWN_MAX, "%" PRIu64, number_at(at, setting->bytes));
        break;
    case SETTING_SHARE:
        memcpy(&share, at, sizeof(share));
        snprintf(text, SETTING_SHOWN_MAX, "%g", share);
        break;
    case SETTING_BOOL:
        snprintf(text, SETTING_SHOWN_MAX, "%s", *(const bool *)at ? "true" : "false");
        break;
    case SETTING_WORD:
        snprintf(text, SETTING_SHOWN_MAX, "%s", word_at(setting, at));
        break;
    case SETTING_TEXT:
    case SETTING_NAME:
        if (*(const char *)at != '\0')
            snprintf(text, SETTING_SHOWN_MAX, "%s", (const char *)at);
        break;
    default:
        break;
    }
}

/* Whether a list names all that another does, in whatever order. Most have it in the same place. */
static bool names_all_of(const struct setting *list, const void *a, const void *x, const void *b,
                         const void *y)
{
    char text[SETTING_SHOWN_MAX], other[SETTING_SHOWN_MAX];

    for (unsigned i = 0; list->show_item(text, b, y, i); i++) {
        bool found = list->show_item(other, a, x, i) && strcmp(other, text) == 0;

        for (unsigned n = 0; !found && list->show_item(other, a, x, n); n++)
            found = strcmp(other, text) == 0;
        if (!found)
            return false;
    }
    return true;
}

/* What is in such lists by number may have another number in the other configuration, so that they are the
 * same if they name the same. */
static bool same(const struct setting *setting, const struct pair *p, const void *x, const void *y)
{
    char was[SETTING_SHOWN_MAX], is[SETTING_SHOWN_MAX];

    if (setting->show_item != NULL)
        return names_all_of(setting, p->a, x, p->b, y) && names_all_of(setting, p->b, y, p->a, x);
    if (setting->type == SETTING_TEXT || setting->type == SETTING_NAME)
        return strcmp(x, y) == 0;
    if (setting->show == NULL)
        return memcmp(x, y, setting->bytes) == 0;
    setting->show(was, p->a, x);
    setting->show(is, p->b, y);
    return strcmp(was, is) == 0;
}

/* Listing */

void settings_changes_add(struct settings_changes *changes, const struct settings_change *change)
{
    const struct settings_change *last = changes->n == 0 ? NULL : &changes->change[changes->n - 1];

    if (last != NULL && strcmp(last->key, change->key) == 0)
        return;
    changes->of[change->when]++;
    if (changes->n < SETTINGS_CHANGES_MAX)
        changes->change[changes->n++] = *change;
}

/* Lists the first value of a setting that is different. */
static void compare_value(struct settings_changes *changes, const struct setting *setting, const char *path,
                          const struct pair *p)
{
    struct settings_change change = {
        .when = setting_later(setting->when, p->when), .from = "-", .to = "changed"};
    char text[SETTING_SHOWN_MAX];

    for (uint64_t i = 0; i < p->times; i++) {
        const void *x = p->in_a + setting->offset + i * p->stride,
                   *y = p->in_b + setting->offset + i * p->stride;

        if (same(setting, p, x, y))
            continue;
        snprintf(change.key, sizeof(change.key), "%s", path);
        if (is_shown(setting)) {
            setting_show(text, setting, p->a, x);
            snprintf(change.from, sizeof(change.from), "%.*s", SETTINGS_VALUE_MAX - 1, text);
            setting_show(text, setting, p->b, y);
            snprintf(change.to, sizeof(change.to), "%.*s", SETTINGS_VALUE_MAX - 1, text);
        }
        settings_changes_add(changes, &change);
        return;
    }
}

/* The fields of an item or a group, and of groups and lists in it. */
static void compare_fields(struct settings_changes *changes, const struct setting *fields, const char *path,
                           const struct pair *p)
{
    for (const struct setting *f = fields; f->key != NULL; f++) {
        struct pair inner = *p;
        char key[SETTINGS_KEY_MAX];

        snprintf(key, sizeof(key), "%.*s%s%.40s", SETTINGS_KEY_MAX - 48, path, path[0] != '\0' ? "." : "",
                 f->key);
        if (f->fields == NULL) {
            compare_value(changes, f, key, p);
            continue;
        }
        inner.when = setting_later(f->when, p->when);
        inner.in_a += f->offset;
        inner.in_b += f->offset;
        if (f->type == SETTING_LIST) {
            inner.stride = f->stride;
            inner.times = f->most;
        }
        compare_fields(changes, f->fields, key, &inner);
    }
}

/* Lists of the whole */

static unsigned count_of(const struct setting *list, const void *configuration)
{
    return (unsigned)number_at((const char *)configuration + list->count_at, sizeof(unsigned));
}

static const char *item_of(const struct setting *list, const void *configuration, unsigned i)
{
    return (const char *)configuration + list->offset + i * list->stride;
}

static const char *name_of(const struct setting *list, const void *configuration, unsigned i)
{
    return item_of(list, configuration, i) + list->fields->offset;
}

static int find(const struct setting *list, const void *configuration, const char *name)
{
    for (unsigned i = 0; i < count_of(list, configuration); i++)
        if (strcmp(name_of(list, configuration, i), name) == 0)
            return (int)i;
    return -1;
}

static void compare_items(struct settings_changes *changes, const struct setting *list, const void *a,
                          unsigned i, const void *b, unsigned j)
{
    const struct pair p = {.a = a,
                           .b = b,
                           .in_a = item_of(list, a, i),
                           .in_b = item_of(list, b, j),
                           .times = 1,
                           .when = list->when};
    char path[SETTINGS_KEY_MAX];

    if (list->named)
        snprintf(path, sizeof(path), "%s[%s]", list->key, name_of(list, a, i));
    else
        snprintf(path, sizeof(path), "%s[%u]", list->key, i);
    compare_fields(changes, list->fields, path, &p);
}

/* What becomes of an item that is in one list alone. */
static void add_item(struct settings_changes *changes, const struct setting *list, const char *name,
                     const char *what, enum setting_when when)
{
    struct settings_change change = {.from = "-", .when = when};

    if (name[0] == '\0')
        return;
    snprintf(change.key, sizeof(change.key), "%s[%s]", list->key, name);
    snprintf(change.to, sizeof(change.to), "%s", what);
    settings_changes_add(changes, &change);
}

static void compare_named(struct settings_changes *changes, const struct setting *list, const void *a,
                          const void *b)
{
    for (unsigned i = 0; i < count_of(list, a); i++) {
        const char *name = name_of(list, a, i);
        const int j = find(list, b, name);

        if (j < 0)
            add_item(changes, list, name, "removed", list->leaves);
        else if (name[0] != '\0')
            compare_items(changes, list, a, i, b, (unsigned)j);
    }
    for (unsigned j = 0; j < count_of(list, b); j++)
        if (find(list, a, name_of(list, b, j)) < 0)
            add_item(changes, list, name_of(list, b, j), "added", list->arrives);
}

/* Lists whose items are known by their places must not become longer or shorter. */
static void compare_numbered(struct settings_changes *changes, const struct setting *list, const void *a,
                             const void *b)
{
    const unsigned was = count_of(list, a), is = count_of(list, b);
    struct settings_change change = {.when = SETTING_RESTART};

    for (unsigned i = 0; was == is && i < was; i++)
        compare_items(changes, list, a, i, b, i);
    if (was == is)
        return;
    snprintf(change.key, sizeof(change.key), "%s", list->key);
    snprintf(change.from, sizeof(change.from), "%u items", was);
    snprintf(change.to, sizeof(change.to), "%u items", is);
    settings_changes_add(changes, &change);
}

void settings_compare(struct settings_changes *changes, const struct setting *table, const void *running,
                      const void *next)
{
    const struct pair whole = {.a = running, .b = next, .in_a = running, .in_b = next, .times = 1};

    memset(changes, 0, sizeof(*changes));
    for (const struct setting *f = table; f->key != NULL; f++) {
        const struct setting alone[] = {*f, {.key = NULL}};

        if (f->type != SETTING_LIST)
            compare_fields(changes, alone, "", &whole);
        else if (f->named)
            compare_named(changes, f, running, next);
        else
            compare_numbered(changes, f, running, next);
    }
}

const struct setting *settings_list(const struct setting *table, const char *key)
{
    while (strcmp(table->key, key) != 0)
        table++;
    return table;
}

int settings_find(const struct setting *table, const char *list, const void *configuration, const char *name)
{
    return find(settings_list(table, list), configuration, name);
}

bool settings_item_differs(const struct setting *table, const char *list, const void *a, unsigned i,
                           const void *b, unsigned j, enum setting_when when)
{
    struct settings_changes changes = {0};

    compare_items(&changes, settings_list(table, list), a, i, b, j);
    return changes.of[when] > 0;
}
