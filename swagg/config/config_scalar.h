/* Single values of a configuration: text to strings, words, booleans, integers, floats. */
#ifndef SWAGG_CONFIG_CONFIG_SCALAR_H
#define SWAGG_CONFIG_CONFIG_SCALAR_H

#include <cyaml/cyaml.h>

#include "config/config_text.h"

enum { CONFIG_LIST_MAX = 256 };

/* Where a walk through the tree is: a node, and how messages call it. */
struct config_place {
    yaml_node_t *node;
    size_t line; /* of its key, or its own */
    char path[CONFIG_PATH_MAX];
};

/* Reads the scalar at this place into *data, as the schema says; false, and data is as it was, if it does not
 * fit, which is reported. A string by pointer points into the tree. */
bool config_scalar(struct config_text *t, const struct config_place *at, const cyaml_schema_value_t *schema,
                   void *data);

/* An integer of this many bytes: 1, 2, 4 or 8. */
void config_store(void *data, size_t bytes, uint64_t value);

static inline const char *config_scalar_text(const yaml_node_t *scalar)
{
    return (const char *)scalar->data.scalar.value;
}

/* "a, b, c" */
void config_append_word(char list[CONFIG_LIST_MAX], const char *word);

#endif
