/* Why a program is as fast as it is, as a table for a reader: the build, the switch and the settings; the
 * jobs; each kind of calls with where it went and why, calls, bytes and time; and for whom this rank waited.
 * Any thread may call, also while calls are in progress. */
#ifndef SHIM_TABLE_H
#define SHIM_TABLE_H

#include "env.h"
#include "ledger.h"

/* Calls `say` for each line. */
void table_tell(const struct settings *s, void (*say)(const char *line));

/* A kind in words, and where it goes: the label of its row. */
void table_label(const struct ledger_kind *kind, char label[LEDGER_LABEL_MAX]);

#endif
