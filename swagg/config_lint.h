/* Compares a file's YAML tree with libcyaml's schema, and reports everything that does not fit, with lines:
 * keys that are unknown (and what may have been meant), missing or given twice; values of the wrong kind;
 * lists too long. libcyaml would stop at the first. A text that passes here is accepted by libcyaml. */
#ifndef SWAGG_CONFIG_LINT_H
#define SWAGG_CONFIG_LINT_H

#include <cyaml/cyaml.h>

#include "config_text.h"

/* Handles what the daemon's schema uses: mappings, sequences, strings, enums, booleans, integers, floats. */
void config_lint(struct config_text *t, const cyaml_schema_value_t *schema);

#endif
