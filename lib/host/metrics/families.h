/* Views as metrics: what scrapers of Prometheus read, made from the declarations of views (views/declared.h).
 * A view's field is a family; a row, or a view of one job, gives each family a sample, labelled by the fields
 * that say which it is. So what a view tells is told by /metrics, and nowhere written again.
 *
 * Names: swagg_METRIC_FIELD, in seconds and shares of 1, with _total if the number only grows. A field whose
 * counters have names of their own (drops) is one family with a label.
 *
 * Threads: one thread's.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "views/declared.h"

struct families;

/* NULL: no memory. */
struct families *families_new(void);
void families_free(struct families *f);

/* What fills `out` from here on, rows and fields, becomes samples. outer: labels and values in front of the
 * view's own, "job", "train", ..., NULL; they are the caller's, until the view is filled. */
void families_take(struct families *f, const struct view *view, const char *const *outer,
                   struct view_out *out);

/* A row of the view that is being taken. */
void families_row(struct families *f, const void *row);

/* All of it, in Prometheus's text format, or with open in OpenMetrics; to be freed. NULL: no memory. */
char *families_text(const struct families *f, bool open, size_t *bytes);
