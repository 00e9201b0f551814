#include "config/config_scalar.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void config_append_word(char list[CONFIG_LIST_MAX], const char *word)
{
    size_t length = strlen(list);

    snprintf(list + length, CONFIG_LIST_MAX - length, "%s%s", length > 0 ? ", " : "", word);
}

void config_store(void *data, size_t bytes, uint64_t value)
{
    switch (bytes) {
    case 1:
        *(uint8_t *)data = (uint8_t)value;
        break;
    case 2:
        *(uint16_t *)data = (uint16_t)value;
        break;
    case 4:
        *(uint32_t *)data = (uint32_t)value;
        break;
    default:
        *(uint64_t *)data = value;
        break;
    }
}

static bool read_string(struct config_text *t, const struct config_place *at,
                        const cyaml_schema_value_t *schema, void *data)
{
    const size_t length = at->node->data.scalar.length;

    if (length < schema->string.min) {
        config_fault_at(t, at->line, at->path, "has no value");
        return false;
    }
    if (length > schema->string.max) {
        config_fault_at(t, at->line, at->path, "is longer than %u characters", schema->string.max);
        return false;
    }
    if (schema->flags & CYAML_FLAG_POINTER)
        *(char **)data = (char *)at->node->data.scalar.value;
    else
        memcpy(data, at->node->data.scalar.value, length + 1);
    return true;
}

/* Decimal or 0x...; a leading zero is refused, since it would mean octal. */
static bool read_integer(struct config_text *t, const struct config_place *at,
                         const cyaml_schema_value_t *schema, void *data)
{
    const unsigned bits = schema->data_size * 8 - (schema->type == CYAML_INT);
    const char *text = config_scalar_text(at->node);
    char *end;
    unsigned long long value;

    if (text[0] == '0' && isdigit((unsigned char)text[1])) {
        config_fault_at(t, at->line, at->path, "%s: write the number without leading zeros", text);
        return false;
    }
    errno = 0;
    value = strtoull(text, &end, 0);
    if (!isdigit((unsigned char)text[0]) || *end != '\0') {
        config_fault_at(t, at->line, at->path, "\"%s\" is not a whole number, 0 or greater", text);
        return false;
    }
    if (errno == ERANGE || (bits < 64 && value >> bits != 0)) {
        config_fault_at(t, at->line, at->path, "%s is too large", text);
        return false;
    }
    config_store(data, schema->data_size, value);
    return true;
}

static bool read_float(struct config_text *t, const struct config_place *at, void *data)
{
    const char *text = config_scalar_text(at->node);
    char *end;
    const double value = strtod(text, &end);

    if (end == text || *end != '\0') {
        config_fault_at(t, at->line, at->path, "\"%s\" is not a number", text);
        return false;
    }
    *(double *)data = value;
    return true;
}

static bool read_bool(struct config_text *t, const struct config_place *at,
                      const cyaml_schema_value_t *schema, void *data)
{
    const char *text = config_scalar_text(at->node);
    const bool value = strcmp(text, "true") == 0;

    if (!value && strcmp(text, "false") != 0) {
        config_fault_at(t, at->line, at->path, "\"%s\" is neither true nor false", text);
        return false;
    }
    config_store(data, schema->data_size, value);
    return true;
}

static bool read_word(struct config_text *t, const struct config_place *at,
                      const cyaml_schema_value_t *schema, void *data)
{
    char choices[CONFIG_LIST_MAX] = "";

    for (uint32_t i = 0; i < schema->enumeration.count; i++) {
        const cyaml_strval_t *choice = &schema->enumeration.strings[i];

        if (strcmp(choice->str, config_scalar_text(at->node)) == 0) {
            config_store(data, schema->data_size, (uint64_t)choice->val);
            return true;
        }
        config_append_word(choices, choice->str);
    }
    config_fault_at(t, at->line, at->path, "\"%s\" is none of %s", config_scalar_text(at->node), choices);
    return false;
}

bool config_scalar(struct config_text *t, const struct config_place *at, const cyaml_schema_value_t *schema,
                   void *data)
{
    if (strlen(config_scalar_text(at->node)) != at->node->data.scalar.length) {
        config_fault_at(t, at->line, at->path, "has a zero byte in it");
        return false;
    }
    switch (schema->type) {
    case CYAML_STRING:
        return read_string(t, at, schema, data);
    case CYAML_ENUM:
        return read_word(t, at, schema, data);
    case CYAML_FLOAT:
        return read_float(t, at, data);
    case CYAML_BOOL:
        return read_bool(t, at, schema, data);
    default:
        return read_integer(t, at, schema, data);
    }
}
