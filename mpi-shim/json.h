/* The table (table.h) as a JSON file. Any thread may call. */
#ifndef SHIM_JSON_H
#define SHIM_JSON_H

#include "env.h"

/* Writes the file that `pattern` names, %r in its name standing for this rank; without %r it is rank 0's
 * alone. It is whole or not there: written under another name first. What fails is reported. */
void json_write(const struct settings *s, const char *pattern, int rank);

#endif
