/* Single values of a configuration: turns text into strings, words, booleans, integers, floats. */
#ifndef SWAGG_CONFIG_CONFIG_SCALAR_H
#define SWAGG_CONFIG_CONFIG_SCALAR_H

#include <cyaml/cyaml.h>

#include "config/config_text.h"

enum { CONFIG_LIST_MAX = 256 };

/* A place in the tree: a node, and its name in messages. */
struct config_place {
    yaml_node_t *node;
    size_t line; /* of its key, or its own */
    char path[CONFIG_PATH_MAX];
};

/* Reads the scalar at this place into *data, as the schema says. If it does not fit, reports it, leaves *data
 * alone and returns false. A string by pointer points into the tree. */
bool config_scalar(struct config_text *t, const struct config_place *at, const cyaml_schema_value_t *schema,
                   void *data);

/* Stores an integer of this many bytes: 1, 2, 4 or 8. */
void config_store(void *data, size_t bytes, uint64_t value);

static inline const char *config_scalar_text(const yaml_node_t *scalar)
{
    return (const char *)scalar->data.scalar.value;
}

/* Appends to a list of words: "a, b, c". */
void config_append_word(char list[CONFIG_LIST_MAX], const char *word);

#endif
