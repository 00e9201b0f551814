/* Reads a file's YAML tree into a struct, as a table of settings describes it. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nearest.h"
#include "settings/settings.h"

enum { WORDS_MAX = 256 };

/* A node of the tree, and its name in messages. */
struct named_node {
    yaml_node_t *node;
    size_t line; /* of its key, or its own */
    char path[SETTINGS_PATH_MAX];
};

static const char *text_of(const yaml_node_t *scalar)
{
    return (const char *)scalar->data.scalar.value;
}

/* Appends to a list of words: "a, b, c". */
static void append_word(char list[WORDS_MAX], const char *word)
{
    const size_t length = strlen(list);

    snprintf(list + length, WORDS_MAX - length, "%s%s", length > 0 ? ", " : "", word);
}

/* An integer of this many bytes: 1, 2, 4 or 8. */
static void store(void *value, size_t bytes, uint64_t number)
{
    memcpy(value, &number, bytes); /* little endian, as all machines that this runs on */
}

/* Single values. These functions read *text into *value, or report why not; what they return false for counts
 * as absent. */

static bool read_text(struct settings *s, const struct named_node *at, const struct setting *setting,
                      void *value)
{
    const size_t length = at->node->data.scalar.length;
    const char *text = text_of(at->node);

    if (length == 0)
        return settings_fault_at(s, at->line, at->path, "has no value");
    if (setting->most != 0 && length > setting->most)
        return settings_fault_at(s, at->line, at->path, "is longer than %" PRIu64 " characters",
                                 setting->most);
    if (setting->type == SETTING_TEXT || setting->type == SETTING_NAME)
        memcpy(value, text, length + 1);
    if (setting->type == SETTING_NAME)
        while (isgraph((unsigned char)*text))
            text++;
    if (setting->type == SETTING_NAME && *text != '\0')
        settings_fault_at(s, at->line, at->path, "\"%s\" has spaces or unprintable characters in it",
                          text_of(at->node));
    if (setting->type == SETTING_PARSED)
        setting->parse(s, at->path, text, value);
    return true;
}

/* Decimal or 0x...; a leading zero is refused, since it would mean octal. */
static bool parse_number(struct settings *s, const struct named_node *at, size_t bytes, uint64_t *number)
{
    const char *text = text_of(at->node);
    char *end;

    if (text[0] == '0' && isdigit((unsigned char)text[1]))
        return settings_fault_at(s, at->line, at->path, "%s: write the number without leading zeros", text);
    errno = 0;
    *number = strtoull(text, &end, 0);
    if (!isdigit((unsigned char)text[0]) || *end != '\0')
        return settings_fault_at(s, at->line, at->path, "\"%s\" is not a whole number, 0 or greater", text);
    if (errno == ERANGE || (bytes < sizeof(*number) && *number >> 8 * bytes != 0))
        return settings_fault_at(s, at->line, at->path, "%s is too large", text);
    return true;
}

static bool read_number(struct settings *s, const struct named_node *at, const struct setting *setting,
                        void *value)
{
    uint64_t number = 0;

    if (!parse_number(s, at, setting->bytes, &number))
        return false;
    if (number < setting->least || number > setting->most)
        settings_fault_at(s, at->line, at->path, "%" PRIu64 " %s (%" PRIu64 "..%" PRIu64 ")", number,
                          setting->refusal != NULL ? setting->refusal : "is out of range", setting->least,
                          setting->most);
    if (setting->power_of_two && (number & (number - 1)) != 0)
        settings_fault_at(s, at->line, at->path, "%" PRIu64 " is not a power of two (512, 1024, ...)",
                          number);
    store(value, setting->bytes, number);
    return true;
}

static bool read_share(struct settings *s, const struct named_node *at, const struct setting *setting,
                       double *value)
{
    const char *text = text_of(at->node);
    char *end;
    const double share = strtod(text, &end);

    if (end == text || *end != '\0')
        return settings_fault_at(s, at->line, at->path, "\"%s\" is not a number", text);
    if (!(share >= 0 && share <= 1)) /* false for NaN, too */
        settings_fault_at(s, at->line, at->path, "%g %s (0..1)", share, setting->refusal);
    *value = share;
    return true;
}

static bool read_bool(struct settings *s, const struct named_node *at, bool *value)
{
    const char *text = text_of(at->node);

    if (strcmp(text, "true") != 0 && strcmp(text, "false") != 0)
        return settings_fault_at(s, at->line, at->path, "\"%s\" is neither true nor false", text);
    *value = text[0] == 't';
    return true;
}

static bool read_word(struct settings *s, const struct named_node *at, const struct setting *setting,
                      void *value)
{
    char choices[WORDS_MAX] = "";

    for (const struct setting_word *w = setting->words; w->word != NULL; w++) {
        if (strcmp(w->word, text_of(at->node)) == 0) {
            store(value, setting->bytes, w->value);
            return true;
        }
        append_word(choices, w->word);
    }
    return settings_fault_at(s, at->line, at->path, "\"%s\" is none of %s", text_of(at->node), choices);
}

static bool read_single(struct settings *s, const struct named_node *at, const struct setting *setting,
                        void *value)
{
    if (strlen(text_of(at->node)) != at->node->data.scalar.length)
        return settings_fault_at(s, at->line, at->path, "has a zero byte in it");
    switch (setting->type) {
    case SETTING_NUMBER:
        return read_number(s, at, setting, value);
    case SETTING_SHARE:
        return read_share(s, at, setting, value);
    case SETTING_BOOL:
        return read_bool(s, at, value);
    case SETTING_WORD:
        return read_word(s, at, setting, value);
    default:
        return read_text(s, at, setting, value);
    }
}

/* Groups and lists */

/* Reads what is at a node into the setting of the struct at base. */
static bool read_value(struct settings *s, const struct named_node *at, const struct setting *setting,
                       void *base);

/* Puts in what the fields of a group are if nothing is said. */
void settings_default(struct settings *s, const struct setting *fields, void *base)
{
    for (const struct setting *f = fields; f->key != NULL; f++) {
        void *value = (char *)base + f->offset;

        if (f->type == SETTING_GROUP)
            settings_default(s, f->fields, value);
        else if (f->fallback != 0)
            store(value, f->bytes, f->fallback);
        else if (f->initial != NULL)
            f->parse(s, f->key, f->initial, value);
    }
}

static size_t items_of(const yaml_node_t *list)
{
    return (size_t)(list->data.sequence.items.top - list->data.sequence.items.start);
}

static bool count_fits(struct settings *s, const struct named_node *at, const struct setting *list)
{
    const size_t count = items_of(at->node);

    if (count < list->least)
        settings_fault_at(s, at->line, at->path, "is empty; give it at least %" PRIu64 " item%s", list->least,
                          list->least == 1 ? "" : "s");
    else if (count > list->most)
        settings_fault_at(s, at->line, at->path, "has %zu items; %" PRIu64 " at most are possible", count,
                          list->most);
    else
        return true;
    return false;
}

/* A group in a list stays in the tree even if parts of it are wrong, so that later ones keep their numbers.
 */
static bool read_list(struct settings *s, const struct named_node *at, const struct setting *list, void *base)
{
    const struct setting group = {.type = SETTING_GROUP, .fields = list->fields};
    const struct setting *item = list->item != NULL ? list->item : &group;
    const size_t count = items_of(at->node);
    bool good = true;

    if (!count_fits(s, at, list))
        return false;
    for (size_t i = 0; i < count && !settings_are_full(s); i++) {
        struct named_node next = {
            .node = yaml_document_get_node(&s->document, at->node->data.sequence.items.start[i])};
        void *data = (char *)base + list->offset + i * list->stride;

        next.line = settings_line(next.node->start_mark);
        snprintf(next.path, sizeof(next.path), "%.*s[%zu]", SETTINGS_PATH_MAX - 32, at->path, i);
        if (list->item == NULL)
            settings_default(s, list->fields, data);
        if (!read_value(s, &next, item, data) && list->item != NULL)
            good = false;
    }
    if (good && list->counted)
        store((char *)base + list->count_at, sizeof(unsigned), count);
    return good;
}

static const struct setting *find_field(const struct setting *fields, const char *key)
{
    for (; fields->key != NULL; fields++)
        if (fields->type != SETTING_MORE && strcmp(fields->key, key) == 0)
            return fields;
    return NULL;
}

static void report_unknown_key(struct settings *s, const struct named_node *at, const struct setting *fields,
                               const char *key)
{
    struct nearest meant = nearest_to(key);
    char known[WORDS_MAX] = "";

    for (; fields->key != NULL; fields++)
        if (fields->type != SETTING_MORE) {
            nearest_offer(&meant, fields->key);
            append_word(known, fields->key);
        }
    if (strchr(key, ':') != NULL)
        settings_fault_at(s, at->line, at->path,
                          "unknown key; a colon that ends a key has a space behind it");
    else if (strchr(key, '=') != NULL)
        settings_fault_at(s, at->line, at->path,
                          "unknown key; a device with commas needs quotes in such a line");
    else if (meant.best != NULL)
        settings_fault_at(s, at->line, at->path, "unknown key; did you mean \"%s\"?", meant.best);
    else
        settings_fault_at(s, at->line, at->path, "unknown key; known here: %s", known);
}

static void key_path(char path[SETTINGS_PATH_MAX], const char *map, const char *key)
{
    snprintf(path, SETTINGS_PATH_MAX, "%.*s%s%.60s", SETTINGS_PATH_MAX - 64, map, map[0] != '\0' ? "." : "",
             key);
}

static bool read_pair(struct settings *s, const struct named_node *map, const yaml_node_pair_t *pair,
                      const struct setting *fields, void *base)
{
    yaml_node_t *key = yaml_document_get_node(&s->document, pair->key);
    struct named_node at = {.node = yaml_document_get_node(&s->document, pair->value),
                            .line = settings_line(key->start_mark)};
    const struct setting *field;
    const yaml_node_pair_t *first;

    if (key->type != YAML_SCALAR_NODE)
        return settings_fault_at(s, at.line, map->path, "a key must be a word");
    key_path(at.path, map->path, text_of(key));
    field = find_field(fields, text_of(key));
    if (field == NULL) {
        report_unknown_key(s, &at, fields, text_of(key));
        return false;
    }
    first = settings_pair(s, map->node, field->key, strlen(field->key));
    if (first == pair)
        return read_value(s, &at, field, base);
    return settings_fault_at(s, at.line, at.path, "is given twice, first in line %zu",
                             settings_line(yaml_document_get_node(&s->document, first->key)->start_mark));
}

static void report_missing_keys(struct settings *s, const struct named_node *at, const struct setting *fields)
{
    char path[SETTINGS_PATH_MAX];

    for (; fields->key != NULL; fields++) {
        if (!fields->required || settings_pair(s, at->node, fields->key, strlen(fields->key)) != NULL)
            continue;
        key_path(path, at->path, fields->key);
        settings_fault_at(s, at->line, path, "is missing");
    }
}

/* What does not fit is taken out of the tree. */
static void read_group(struct settings *s, const struct named_node *at, const struct setting *fields,
                       void *base)
{
    yaml_node_pair_t *pair = at->node->data.mapping.pairs.start;
    yaml_node_pair_t **end = &at->node->data.mapping.pairs.top;

    report_missing_keys(s, at, fields);
    while (pair < *end && !settings_are_full(s))
        if (read_pair(s, at, pair, fields, base))
            pair++;
        else
            memmove(pair, pair + 1, (size_t)(--*end - pair) * sizeof(*pair));
}

static bool expect_kind(struct settings *s, const struct named_node *at, yaml_node_type_t kind,
                        const char *wanted)
{
    if (at->node->type == kind)
        return true;
    if (at->node->type == YAML_SCALAR_NODE && at->node->data.scalar.length == 0)
        settings_fault_at(s, at->line, at->path, "has no value; expected %s, indented further than it",
                          wanted);
    else
        settings_fault_at(s, at->line, at->path, "expected %s", wanted);
    return false;
}

static bool read_value(struct settings *s, const struct named_node *at, const struct setting *setting,
                       void *base)
{
    void *value = (char *)base + setting->offset;

    switch (setting->type) {
    case SETTING_GROUP:
        if (!expect_kind(s, at, YAML_MAPPING_NODE,
                         "lines of the form \"key: value\", with a space behind the colon"))
            return false;
        read_group(s, at, setting->fields, value);
        return true;
    case SETTING_LIST:
        return expect_kind(s, at, YAML_SEQUENCE_NODE,
                           "a list, [a, b, ...] or lines that begin with \"- \"") &&
               read_list(s, at, setting, base);
    default:
        return expect_kind(s, at, YAML_SCALAR_NODE, "a single value") && read_single(s, at, setting, value);
    }
}

void settings_read(struct settings *s, const struct setting *table, void *configuration)
{
    const struct setting file = {.type = SETTING_GROUP, .fields = table};
    struct named_node root = {.node = yaml_document_get_root_node(&s->document)};

    root.line = settings_line(root.node->start_mark);
    settings_default(s, table, configuration);
    read_value(s, &root, &file, configuration);
}
