/* Views as JSON (jansson): a list becomes an array, a table an array of objects. */
#ifndef SWAGG_SHOW_WRITER_JSON_H
#define SWAGG_SHOW_WRITER_JSON_H

#include <jansson.h>

#include "views/writer.h"

enum { WRITER_JSON_DEPTH = 4 }; /* the view, a table, a row, a list in it */

struct writer_json {
    struct writer writer;
    unsigned depth;
    struct {
        json_t *value;   /* of the view or what it contains; the innermost is written to */
        const char *key; /* of a table; NULL: no table */
    } open[WRITER_JSON_DEPTH];
    json_t *counters; /* an object whose keys are the paths, KEY or TABLE/KEY, of numbers that only grow */
    bool failed;      /* for want of memory */
};

/* The view is written to &w->writer. */
void writer_json_init(struct writer_json *w);

/* Ends the writer. *view, and *counters, an array of the paths of numbers that only grow, are the caller's to
 * release. -ENOMEM: there are none. */
int writer_json_take(struct writer_json *w, json_t **view, json_t **counters);

#endif
