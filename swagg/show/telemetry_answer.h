/* Views as answers of DPDK's telemetry (rte_telemetry.h), which has no tables: column KEY of table TABLE
 * becomes the list TABLE/KEY, and a list in a row one text, its items separated by spaces. A table without
 * rows leaves nothing. Lists end after RTE_TEL_MAX_ARRAY_ENTRIES items; the text of a list in a row ends with
 * " ..." where it would be longer than TELEMETRY_CELL_MAX. */
#ifndef SWAGG_SHOW_TELEMETRY_ANSWER_H
#define SWAGG_SHOW_TELEMETRY_ANSWER_H

#include <rte_telemetry.h>

#include "views/view.h"

enum { TELEMETRY_CELL_MAX = RTE_TEL_MAX_STRING_LEN };

/* object: what the view has become (view_end). */
void telemetry_answer(struct rte_tel_data *answer, const struct view *view, const json_t *object);

/* The text of a list in a row. */
const char *telemetry_cell(char text[TELEMETRY_CELL_MAX], const json_t *list);

#endif
