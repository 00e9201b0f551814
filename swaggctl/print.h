/* A view as text. Its own values come first, a line each: "KEY  VALUE". Then come its tables, a header and a
 * line a row. Columns are aligned, separated by at least two spaces, in the order of the view, and never
 * empty: "-" stands for no value. Items of a list are joined by commas.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

struct print_style {
    bool no_header;
    const char *only; /* "rx_frames,name": these keys or columns in this order; NULL: all */
    /* Counters, by their paths (KEY, TABLE/KEY), of which those that are 0, in all rows of a table, are left
     * out; a line says how many. NULL: none are. */
    const json_t *spared;
    const struct view
        *view; /* whose bytes and times are shown in units that are read easily; NULL: as they are */
};

void print_view(FILE *to, const json_t *view, const struct print_style *style);

/* Whether the view is a table without rows, of which nothing is printed. */
bool print_is_empty(const json_t *view);

/* Whether style->only has a key or column that the view does not have: then why names it, and those that
 * there are. */
bool print_lacks(const json_t *view, const struct print_style *style, char *why, size_t room);

/* How fast the counters of a view grow: a copy of the answer's view in which each counter KEY is KEY/s, its
 * growth in a second since the answer before; beside: KEY stays, too. Rows of tables are found again by the
 * value that they begin with; what was not there before, or has begun to count anew, has grown by nothing.
 * before: NULL, there is none. To be released. */
json_t *rates_view(const json_t *answer, const json_t *before, double seconds, bool beside);
