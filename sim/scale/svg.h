/* Lines over a few values, as SVG text that follows the reader's light or dark mode. */
#pragma once

#include <stdio.h>

enum { SVG_POINTS_MAX = 8, SVG_SERIES_MAX = 8 };

struct svg_series {
    const char *name; /* beside the line's end */
    unsigned colour;  /* 0 to 3; another line of the same colour is dashed */
    unsigned points;  /* those of the panel's values, from the first on */
    double y[SVG_POINTS_MAX];
};

/* One set of axes. The values that lines go over are as far apart as if they were steps. */
struct svg_panel {
    const char *heading, *unit, *x_unit;
    unsigned x_values;
    char x[SVG_POINTS_MAX][16];
    unsigned series;
    struct svg_series line[SVG_SERIES_MAX];
    double top; /* of the axis from 0; a line at every fifth of it */
};

/* Panels beside one another. */
void svg_lines(FILE *out, const char *title, const struct svg_panel panels[], unsigned n);
