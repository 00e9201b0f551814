/* What is told of a program's collectives (ledger.h): in one line, as a table for a reader, and as a JSON
 * file. Any thread may call, also while calls are in progress. */
#pragma once

#include <stddef.h>

#include "env.h"
#include "ledger.h"
#include "native.h"

/* Counts what was offloaded, or failed. way: BLOCKING or POSTED. */
void tell_offloaded(enum offered function, int way, size_t bytes);
void tell_failed(void);

/* The summary in one line. */
void tell_summary(char *text, size_t size, const char *switch_ip);

/* Why the program is as fast as it is: the build, the switch and the settings; the jobs; each kind of calls
 * with where it went and why, calls, bytes and time; and for whom this rank waited. Calls `say` for each
 * line. */
void tell_table(const struct settings *s, void (*say)(const char *line));

/* A kind in words, and where it goes: the label of its row. */
void tell_label(const struct ledger_kind *kind, char label[LEDGER_LABEL_MAX]);

/* The table as JSON. Writes the file that `pattern` names, %r in its name standing for this rank; without %r
 * it is rank 0's alone. It is whole or not there: written under another name first. What fails is reported.
 */
void tell_json(const struct settings *s, const char *pattern, int rank);
