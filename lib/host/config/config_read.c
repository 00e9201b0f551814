#include "config/config_read.h"

#include <stdio.h>
#include <string.h>

#include "config/config_scalar.h"
#include "nearest.h"

/* These functions read what is at a place into *data, and return whether it may stay in the tree. */
static bool read_value(struct config_text *t, const struct config_place *at,
                       const cyaml_schema_value_t *schema, void *data);

static size_t item_bytes(const cyaml_schema_value_t *item)
{
    return item->flags & CYAML_FLAG_POINTER ? sizeof(void *) : item->data_size;
}

static size_t items_of(const yaml_node_t *list)
{
    return (size_t)(list->data.sequence.items.top - list->data.sequence.items.start);
}

static bool count_fits(struct config_text *t, const struct config_place *at,
                       const cyaml_schema_value_t *schema)
{
    const size_t count = items_of(at->node);

    if (count < schema->sequence.min)
        config_fault_at(t, at->line, at->path, "is empty; give it at least %u item%s", schema->sequence.min,
                        schema->sequence.min == 1 ? "" : "s");
    else if (count > schema->sequence.max)
        config_fault_at(t, at->line, at->path, "has %zu items; %u at most are possible", count,
                        schema->sequence.max);
    else
        return true;
    return false;
}

/* A group in a list stays in the tree even if parts of it are wrong, so that later ones keep their numbers.
 */
static bool read_list(struct config_text *t, const struct config_place *at,
                      const cyaml_schema_value_t *schema, void *data)
{
    const cyaml_schema_value_t *entry = schema->sequence.entry;
    bool good = true;

    if (!count_fits(t, at, schema))
        return false;
    for (size_t i = 0; i < items_of(at->node) && !config_text_is_full(t); i++) {
        struct config_place item = {
            .node = yaml_document_get_node(&t->document, at->node->data.sequence.items.start[i])};

        item.line = config_line(item.node->start_mark);
        snprintf(item.path, sizeof(item.path), "%.*s[%zu]", CONFIG_PATH_MAX - 32, at->path, i);
        if (!read_value(t, &item, entry, (char *)data + i * item_bytes(entry)) &&
            entry->type != CYAML_MAPPING)
            good = false;
    }
    return good;
}

static const cyaml_schema_field_t *find_field(const cyaml_schema_field_t *fields, const char *key)
{
    for (; fields->key != NULL; fields++) {
        if (strcmp(fields->key, key) == 0)
            return fields;
    }
    return NULL;
}

static void report_unknown_key(struct config_text *t, const struct config_place *at,
                               const cyaml_schema_field_t *fields, const char *key)
{
    struct nearest meant = nearest_to(key);
    char known[CONFIG_LIST_MAX] = "";

    for (; fields->key != NULL; fields++) {
        nearest_offer(&meant, fields->key);
        config_append_word(known, fields->key);
    }
    if (strchr(key, ':') != NULL)
        config_fault_at(t, at->line, at->path, "unknown key; a colon that ends a key has a space behind it");
    else if (strchr(key, '=') != NULL)
        config_fault_at(t, at->line, at->path,
                        "unknown key; a device with commas needs quotes in such a line");
    else if (meant.best != NULL)
        config_fault_at(t, at->line, at->path, "unknown key; did you mean \"%s\"?", meant.best);
    else
        config_fault_at(t, at->line, at->path, "unknown key; known here: %s", known);
}

/* The pair of a mapping with this key; NULL: there is none. */
static yaml_node_pair_t *find_pair(struct config_text *t, yaml_node_t *map, const char *key)
{
    for (yaml_node_pair_t *p = map->data.mapping.pairs.start; p < map->data.mapping.pairs.top; p++) {
        yaml_node_t *k = yaml_document_get_node(&t->document, p->key);

        if (k->type == YAML_SCALAR_NODE && strcmp(config_scalar_text(k), key) == 0)
            return p;
    }
    return NULL;
}

static void key_path(char path[CONFIG_PATH_MAX], const char *map, const char *key)
{
    snprintf(path, CONFIG_PATH_MAX, "%.*s%s%.60s", CONFIG_PATH_MAX - 64, map, map[0] != '\0' ? "." : "", key);
}

/* Reads the value of a known key. */
static bool read_field(struct config_text *t, const struct config_place *at,
                       const cyaml_schema_field_t *field, void *data)
{
    if (!read_value(t, at, &field->value, (char *)data + field->data_offset))
        return false;
    if (field->value.type == CYAML_SEQUENCE)
        config_store((char *)data + field->count_offset, field->count_size, items_of(at->node));
    return true;
}

static bool read_pair(struct config_text *t, const struct config_place *map, const yaml_node_pair_t *pair,
                      const cyaml_schema_field_t *fields, void *data)
{
    yaml_node_t *key = yaml_document_get_node(&t->document, pair->key);
    struct config_place at = {.node = yaml_document_get_node(&t->document, pair->value),
                              .line = config_line(key->start_mark)};
    const cyaml_schema_field_t *field;
    const yaml_node_pair_t *first;

    if (key->type != YAML_SCALAR_NODE) {
        config_fault_at(t, at.line, map->path, "a key must be a word");
        return false;
    }
    key_path(at.path, map->path, config_scalar_text(key));
    field = find_field(fields, config_scalar_text(key));
    if (field == NULL) {
        report_unknown_key(t, &at, fields, config_scalar_text(key));
        return false;
    }
    first = find_pair(t, map->node, field->key);
    if (first == pair)
        return read_field(t, &at, field, data);
    config_fault_at(t, at.line, at.path, "is given twice, first in line %zu",
                    config_line(yaml_document_get_node(&t->document, first->key)->start_mark));
    return false;
}

static void report_missing_keys(struct config_text *t, const struct config_place *at,
                                const cyaml_schema_field_t *fields)
{
    char path[CONFIG_PATH_MAX];

    for (; fields->key != NULL; fields++) {
        if ((fields->value.flags & CYAML_FLAG_OPTIONAL) || find_pair(t, at->node, fields->key) != NULL)
            continue;
        key_path(path, at->path, fields->key);
        config_fault_at(t, at->line, path, "is missing");
    }
}

static void read_group(struct config_text *t, const struct config_place *at,
                       const cyaml_schema_value_t *schema, void *data)
{
    yaml_node_pair_t *pair = at->node->data.mapping.pairs.start;
    yaml_node_pair_t **end = &at->node->data.mapping.pairs.top;

    report_missing_keys(t, at, schema->mapping.fields);
    while (pair < *end && !config_text_is_full(t))
        if (read_pair(t, at, pair, schema->mapping.fields, data))
            pair++;
        else
            memmove(pair, pair + 1, (size_t)(--*end - pair) * sizeof(*pair));
}

static bool expect_kind(struct config_text *t, const struct config_place *at, yaml_node_type_t kind,
                        const char *wanted)
{
    if (at->node->type == kind)
        return true;
    if (at->node->type == YAML_SCALAR_NODE && at->node->data.scalar.length == 0)
        config_fault_at(t, at->line, at->path, "has no value; expected %s, indented further than it", wanted);
    else
        config_fault_at(t, at->line, at->path, "expected %s", wanted);
    return false;
}

static bool read_value(struct config_text *t, const struct config_place *at,
                       const cyaml_schema_value_t *schema, void *data)
{
    switch (schema->type) {
    case CYAML_MAPPING:
        if (!expect_kind(t, at, YAML_MAPPING_NODE,
                         "lines of the form \"key: value\", with a space behind the colon"))
            return false;
        read_group(t, at, schema, data);
        return true;
    case CYAML_SEQUENCE:
        return expect_kind(t, at, YAML_SEQUENCE_NODE,
                           "a list, [a, b, ...] or lines that begin with \"- \"") &&
               read_list(t, at, schema, data);
    default:
        return expect_kind(t, at, YAML_SCALAR_NODE, "a single value") && config_scalar(t, at, schema, data);
    }
}

void config_read(struct config_text *t, const cyaml_schema_value_t *schema, void *data)
{
    struct config_place root = {.node = yaml_document_get_root_node(&t->document)};

    root.line = config_line(root.node->start_mark);
    read_value(t, &root, schema, data);
}
