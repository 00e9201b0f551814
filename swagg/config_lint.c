#include "config_lint.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nearest.h"

enum { LIST_MAX = 256 };

/* Where the walk is: a node and how messages call it. */
struct place {
    yaml_node_t *node;
    size_t line; /* of its key, or its own */
    char path[CONFIG_PATH_MAX];
};

static void lint_value(struct config_text *t, const struct place *at, const cyaml_schema_value_t *schema);

static const char *text_of(const yaml_node_t *scalar)
{
    return (const char *)scalar->data.scalar.value;
}

/* "a, b, c" */
static void append_word(char list[LIST_MAX], const char *word)
{
    size_t length = strlen(list);

    snprintf(list + length, LIST_MAX - length, "%s%s", length > 0 ? ", " : "", word);
}

static void lint_string(struct config_text *t, const struct place *at, const cyaml_schema_value_t *schema)
{
    if (at->node->data.scalar.length < schema->string.min)
        config_fault_at(t, at->line, at->path, "has no value");
    else if (at->node->data.scalar.length > schema->string.max)
        config_fault_at(t, at->line, at->path, "is longer than %u characters", schema->string.max);
}

/* A number as libcyaml reads it, decimal or 0x..., but not the octal that it would make of a leading zero. */
static void lint_integer(struct config_text *t, const struct place *at, const cyaml_schema_value_t *schema)
{
    const unsigned bits = schema->data_size * 8 - (schema->type == CYAML_INT);
    const char *text = text_of(at->node);
    char *end;
    unsigned long long value;

    if (text[0] == '0' && isdigit((unsigned char)text[1])) {
        config_fault_at(t, at->line, at->path, "%s: write the number without leading zeros", text);
        return;
    }
    errno = 0;
    value = strtoull(text, &end, 0);
    if (!isdigit((unsigned char)text[0]) || *end != '\0')
        config_fault_at(t, at->line, at->path, "\"%s\" is not a whole number, 0 or greater", text);
    else if (errno == ERANGE || (bits < 64 && value >> bits != 0))
        config_fault_at(t, at->line, at->path, "%s is too large", text);
}

static void lint_float(struct config_text *t, const struct place *at)
{
    const char *text = text_of(at->node);
    char *end;

    strtod(text, &end);
    if (end == text || *end != '\0')
        config_fault_at(t, at->line, at->path, "\"%s\" is not a number", text);
}

/* libcyaml would take any word for true that is not one of a dozen for false. */
static void lint_bool(struct config_text *t, const struct place *at)
{
    if (strcmp(text_of(at->node), "true") != 0 && strcmp(text_of(at->node), "false") != 0)
        config_fault_at(t, at->line, at->path, "\"%s\" is neither true nor false", text_of(at->node));
}

static void lint_enum(struct config_text *t, const struct place *at, const cyaml_schema_value_t *schema)
{
    char choices[LIST_MAX] = "";

    for (uint32_t i = 0; i < schema->enumeration.count; i++) {
        if (strcmp(schema->enumeration.strings[i].str, text_of(at->node)) == 0)
            return;
        append_word(choices, schema->enumeration.strings[i].str);
    }
    config_fault_at(t, at->line, at->path, "\"%s\" is none of %s", text_of(at->node), choices);
}

static void lint_sequence(struct config_text *t, const struct place *at, const cyaml_schema_value_t *schema)
{
    const yaml_node_item_t *items = at->node->data.sequence.items.start;
    const size_t count = (size_t)(at->node->data.sequence.items.top - items);

    if (count < schema->sequence.min)
        config_fault_at(t, at->line, at->path, "is empty; give it at least %u item%s", schema->sequence.min,
                        schema->sequence.min == 1 ? "" : "s");
    if (count > schema->sequence.max)
        config_fault_at(t, at->line, at->path, "has %zu items; %u at most are possible", count,
                        schema->sequence.max);
    for (size_t i = 0; i < count; i++) {
        struct place item = {.node = yaml_document_get_node(&t->document, items[i])};

        item.line = config_line(item.node->start_mark);
        snprintf(item.path, sizeof(item.path), "%.*s[%zu]", CONFIG_PATH_MAX - 32, at->path, i);
        lint_value(t, &item, schema->sequence.entry);
    }
}

static const cyaml_schema_field_t *find_field(const cyaml_schema_field_t *fields, const char *key)
{
    for (; fields->key != NULL; fields++) {
        if (strcmp(fields->key, key) == 0)
            return fields;
    }
    return NULL;
}

static void report_unknown_key(struct config_text *t, const struct place *at,
                               const cyaml_schema_field_t *fields, const char *key)
{
    struct nearest meant = nearest_to(key);
    char known[LIST_MAX] = "";

    for (; fields->key != NULL; fields++) {
        nearest_offer(&meant, fields->key);
        append_word(known, fields->key);
    }
    if (meant.best != NULL)
        config_fault_at(t, at->line, at->path, "unknown key; did you mean \"%s\"?", meant.best);
    else
        config_fault_at(t, at->line, at->path, "unknown key; known here: %s", known);
}

/* The pair of a mapping that has this key; NULL: none. */
static yaml_node_pair_t *find_pair(struct config_text *t, yaml_node_t *map, const char *key)
{
    for (yaml_node_pair_t *p = map->data.mapping.pairs.start; p < map->data.mapping.pairs.top; p++) {
        yaml_node_t *k = yaml_document_get_node(&t->document, p->key);

        if (k->type == YAML_SCALAR_NODE && strcmp(text_of(k), key) == 0)
            return p;
    }
    return NULL;
}

static void lint_pair(struct config_text *t, const struct place *map, yaml_node_pair_t *pair,
                      const cyaml_schema_field_t *fields)
{
    yaml_node_t *key = yaml_document_get_node(&t->document, pair->key);
    struct place at = {.node = yaml_document_get_node(&t->document, pair->value),
                       .line = config_line(key->start_mark)};
    const cyaml_schema_field_t *field;
    const yaml_node_pair_t *first;

    if (key->type != YAML_SCALAR_NODE) {
        config_fault_at(t, at.line, map->path, "a key must be a word");
        return;
    }
    snprintf(at.path, sizeof(at.path), "%.*s%s%.60s", CONFIG_PATH_MAX - 64, map->path,
             map->path[0] != '\0' ? "." : "", text_of(key));
    field = find_field(fields, text_of(key));
    first = find_pair(t, map->node, text_of(key));
    if (field == NULL)
        report_unknown_key(t, &at, fields, text_of(key));
    else if (first != pair)
        config_fault_at(t, at.line, at.path, "is given twice, first in line %zu",
                        config_line(yaml_document_get_node(&t->document, first->key)->start_mark));
    else
        lint_value(t, &at, &field->value);
}

static void lint_mapping(struct config_text *t, const struct place *at, const cyaml_schema_value_t *schema)
{
    const cyaml_schema_field_t *fields = schema->mapping.fields;

    for (yaml_node_pair_t *p = at->node->data.mapping.pairs.start; p < at->node->data.mapping.pairs.top; p++)
        lint_pair(t, at, p, fields);
    for (const cyaml_schema_field_t *f = fields; f->key != NULL; f++) {
        if (!(f->value.flags & CYAML_FLAG_OPTIONAL) && find_pair(t, at->node, f->key) == NULL)
            config_fault_at(t, at->line, at->path, "\"%s\" is missing", f->key);
    }
}

static bool expect_kind(struct config_text *t, const struct place *at, yaml_node_type_t kind,
                        const char *wanted)
{
    if (at->node->type == kind)
        return true;
    if (at->node->type == YAML_SCALAR_NODE && at->node->data.scalar.length == 0)
        config_fault_at(t, at->line, at->path, "has no value; expected %s", wanted);
    else
        config_fault_at(t, at->line, at->path, "expected %s", wanted);
    return false;
}

static void lint_scalar(struct config_text *t, const struct place *at, const cyaml_schema_value_t *schema)
{
    if (strlen(text_of(at->node)) != at->node->data.scalar.length) {
        config_fault_at(t, at->line, at->path, "has a zero byte in it");
        return;
    }
    switch (schema->type) {
    case CYAML_STRING:
        lint_string(t, at, schema);
        break;
    case CYAML_ENUM:
        lint_enum(t, at, schema);
        break;
    case CYAML_FLOAT:
        lint_float(t, at);
        break;
    case CYAML_BOOL:
        lint_bool(t, at);
        break;
    default:
        lint_integer(t, at, schema);
        break;
    }
}

static void lint_value(struct config_text *t, const struct place *at, const cyaml_schema_value_t *schema)
{
    switch (schema->type) {
    case CYAML_MAPPING:
        if (expect_kind(t, at, YAML_MAPPING_NODE, "lines of the form \"key: value\""))
            lint_mapping(t, at, schema);
        break;
    case CYAML_SEQUENCE:
        if (expect_kind(t, at, YAML_SEQUENCE_NODE, "a list, [a, b, ...] or lines that begin with \"- \""))
            lint_sequence(t, at, schema);
        break;
    default:
        if (expect_kind(t, at, YAML_SCALAR_NODE, "a single value"))
            lint_scalar(t, at, schema);
        break;
    }
}

void config_lint(struct config_text *t, const cyaml_schema_value_t *schema)
{
    struct place root = {.node = yaml_document_get_root_node(&t->document)};

    root.line = config_line(root.node->start_mark);
    lint_value(t, &root, schema);
}
