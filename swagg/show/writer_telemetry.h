/* Views as answers of DPDK's telemetry (rte_telemetry.h), which has no tables: column KEY of table TABLE
 * becomes the list TABLE/KEY, and a list in a row one text, its items separated by spaces. A table without
 * rows leaves nothing. Lists end after RTE_TEL_MAX_ARRAY_ENTRIES items; the text of a list in a row ends with
 * " ..." where it would be longer than WRITER_CELL_MAX. */
#ifndef SWAGG_SHOW_WRITER_TELEMETRY_H
#define SWAGG_SHOW_WRITER_TELEMETRY_H

#include <rte_telemetry.h>

#include "views/writer.h"

enum { WRITER_COLUMNS_MAX = 32, WRITER_CELL_MAX = RTE_TEL_MAX_STRING_LEN };

struct writer_telemetry {
    struct writer writer;
    struct rte_tel_data *answer;
    struct rte_tel_data *list; /* the open one; NULL: none, or no memory */
    const char *list_key;      /* NULL: none is open */
    const char *table;         /* the open one; NULL: none is */
    bool in_row, in_cell;      /* in_cell: in a list in a row */
    unsigned columns;
    struct writer_column {
        const char *key;
        struct rte_tel_data *list;
    } column[WRITER_COLUMNS_MAX];
    char cell[WRITER_CELL_MAX];
    bool cut; /* the cell ends with "..." */
};

/* The view is written to &w->writer, and is then in answer. */
void writer_telemetry_init(struct writer_telemetry *w, struct rte_tel_data *answer);

#endif
