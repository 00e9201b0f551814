/* Options as rows of a table of a page, in Markdown. Not in the library: for programs that print pages. */
#pragma once

#include "options_table.h"

/* "| `name` | values | default | meaning |" to standard output. otherwise: another default; NULL: the
 * field's. */
void option_print_row(const char *name, const struct option_field *f, const char *otherwise);
