/* Reads a file's YAML tree into a struct, as libcyaml's schema describes it, and reports everything that does
 * not fit, with lines: keys that are unknown (and what may have been meant), missing or given twice; values
 * of the wrong kind; lists too long. libcyaml itself would stop at the first, and forget the lines. */
#ifndef SWAGG_CONFIG_CONFIG_READ_H
#define SWAGG_CONFIG_CONFIG_READ_H

#include <cyaml/cyaml.h>

#include "config/config_text.h"

/* data: all zero, as the schema's mapping has it. What does not fit is reported and taken out of t's tree, so
 * that it counts as absent and the rest can be checked. Handles what the daemon's schema uses: mappings,
 * lists in place, and single values. */
void config_read(struct config_text *t, const cyaml_schema_value_t *schema, void *data);

#endif
