/* Options as rows of a table of a page, in Markdown. Not in the library: for programs that print pages. */
#ifndef SWAGG_CLIENT_OPTIONS_PAGE_H
#define SWAGG_CLIENT_OPTIONS_PAGE_H

#include "options_table.h"

/* "| `name` | values | default | meaning |" to standard output. otherwise: another default; NULL: the
 * field's. */
void option_print_row(const char *name, const struct option_field *f, const char *otherwise);

#endif
