/* Reads a file's YAML tree into a struct, as libcyaml's schema describes it, and reports everything that does
 * not fit, with line numbers: keys that are unknown (with the nearest known one), missing or given twice;
 * values of the wrong kind; lists that are too long. libcyaml itself would stop at the first mistake, and not
 * tell its line. */
#ifndef SWAGG_CONFIG_CONFIG_READ_H
#define SWAGG_CONFIG_CONFIG_READ_H

#include <cyaml/cyaml.h>

#include "config/config_text.h"

/* data: the struct of the schema's mapping, all zero. What does not fit is reported and removed from t's
 * tree, so that it counts as absent and the rest can be checked. Handles what the daemon's schema uses:
 * mappings, lists in place, and single values. */
void config_read(struct config_text *t, const cyaml_schema_value_t *schema, void *data);

#endif
