#include "scale/svg.h"

#include <stdlib.h>

enum { WIDTH = 840, PLOT_TOP = 34, PLOT_HEIGHT = 250, HEIGHT = PLOT_TOP + PLOT_HEIGHT + 50, GAP = 14 };
enum { SCALE_LEFT = 58, NAMES = 124, NAME_LINE = 15, STEPS = 5 };

static const char *const style =
    "text { font: 12px system-ui, -apple-system, \"Segoe UI\", Helvetica, Arial, sans-serif; fill: #1f2328 "
    "}\n"
    ".bold { font-weight: 600 } .muted { fill: #59636e } .end { text-anchor: end } .middle { text-anchor: "
    "middle "
    "}\n"
    ".back { fill: #ffffff } .grid { stroke: #d8dee4 } .axis { stroke: #818b98 } line { stroke-width: 1 }\n"
    "path { fill: none; stroke-width: 2 } .dashed { stroke-dasharray: 5 4 }\n"
    ".c0 { stroke: #0969da } .c1 { stroke: #bc4c00 } .c2 { stroke: #8250df } .c3 { stroke: #818b98 }\n"
    "circle.c0 { fill: #0969da } circle.c1 { fill: #bc4c00 } circle.c2 { fill: #8250df } circle.c3 { fill: "
    "#818b98 "
    "}\n"
    "@media (prefers-color-scheme: dark) {\n"
    "text { fill: #e6edf3 } .muted { fill: #9198a1 } .back { fill: #0d1117 } .grid { stroke: #2a313c }\n"
    ".axis { stroke: #656c76 } .c0 { stroke: #4493f8 } .c1 { stroke: #f0883e } .c2 { stroke: #ab7df8 }\n"
    ".c3 { stroke: #9198a1 } circle.c0 { fill: #4493f8 } circle.c1 { fill: #f0883e }\n"
    "circle.c2 { fill: #ab7df8 } circle.c3 { fill: #9198a1 }\n"
    "}\n";

/* Where a panel's values are in the picture. */
struct frame_of_panel {
    const struct svg_panel *panel;
    double left, first, last; /* of the panel; of its lines */
};

static double x_of(const struct frame_of_panel *f, unsigned i)
{
    const unsigned steps = f->panel->x_values > 1 ? f->panel->x_values - 1 : 1;

    return f->first + 8 + (f->last - f->first - 16) * i / steps;
}

static double y_of(const struct svg_panel *panel, double value)
{
    return PLOT_TOP + PLOT_HEIGHT * (1 - value / panel->top);
}

static void text(FILE *out, const char *css, double x, double y, const char *body)
{
    fprintf(out, "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\">", css, x, y);
    for (; *body != '\0'; body++)
        switch (*body) {
        case '&':
            fputs("&amp;", out);
            break;
        case '<':
            fputs("&lt;", out);
            break;
        default:
            fputc(*body, out);
        }
    fputs("</text>\n", out);
}

static void line(FILE *out, const char *css, double x1, double y1, double x2, double y2)
{
    fprintf(out, "<line class=\"%s\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n", css, x1, y1, x2,
            y2);
}

static void axes(FILE *out, const struct frame_of_panel *f)
{
    const struct svg_panel *p = f->panel;
    const double bottom = PLOT_TOP + PLOT_HEIGHT;
    char label[32];

    text(out, "bold", f->left + 12, 20, p->heading);
    for (unsigned i = 0; i <= STEPS; i++) {
        const double value = p->top * i / STEPS;
        snprintf(label, sizeof(label), "%g", value);
        line(out, "grid", f->first, y_of(p, value), f->last, y_of(p, value));
        text(out, "muted end", f->first - 6, y_of(p, value) + 4, label);
    }
    fprintf(out, "<g transform=\"translate(%.1f %.1f) rotate(-90)\">\n", f->left + 16,
            PLOT_TOP + PLOT_HEIGHT / 2.0);
    text(out, "muted middle", 0, 0, p->unit);
    fputs("</g>\n", out);
    line(out, "axis", f->first, bottom, f->last, bottom);
    for (unsigned i = 0; i < p->x_values; i++) {
        line(out, "axis", x_of(f, i), bottom, x_of(f, i), bottom + 4);
        text(out, "muted middle", x_of(f, i), bottom + 17, p->x[i]);
    }
    text(out, "muted middle", (f->first + f->last) / 2, bottom + 35, p->x_unit);
}

static void curve(FILE *out, const struct frame_of_panel *f, unsigned which)
{
    const struct svg_series *s = &f->panel->line[which];
    const char *dashed = "";

    for (unsigned i = 0; i < which; i++)
        if (f->panel->line[i].colour == s->colour)
            dashed = " dashed";
    fprintf(out, "<path class=\"c%u%s\" d=\"", s->colour, dashed);
    for (unsigned i = 0; i < s->points; i++)
        fprintf(out, "%c%.1f %.1f", i == 0 ? 'M' : 'L', x_of(f, i), y_of(f->panel, s->y[i]));
    fputs("\"/>\n", out);
    for (unsigned i = 0; i < s->points; i++)
        fprintf(out, "<circle class=\"c%u\" cx=\"%.1f\" cy=\"%.1f\" r=\"3\"/>\n", s->colour, x_of(f, i),
                y_of(f->panel, s->y[i]));
}

struct name {
    double y;
    const char *text;
};

static int by_height(const void *a, const void *b)
{
    const double x = ((const struct name *)a)->y, y = ((const struct name *)b)->y;

    return (x > y) - (x < y);
}

/* Beside the lines' ends, apart where these are close. */
static void names(FILE *out, const struct frame_of_panel *f)
{
    const struct svg_panel *p = f->panel;
    struct name name[SVG_SERIES_MAX];
    double at = 0;

    for (unsigned i = 0; i < p->series; i++)
        name[i] = (struct name){y_of(p, p->line[i].y[p->line[i].points - 1]), p->line[i].name};
    qsort(name, p->series, sizeof(name[0]), by_height);
    for (unsigned i = 0; i < p->series; i++) {
        const double lowest = PLOT_TOP + PLOT_HEIGHT - NAME_LINE * (double)(p->series - 1 - i);
        double y = name[i].y < lowest ? name[i].y : lowest;

        y = i > 0 && y < at + NAME_LINE ? at + NAME_LINE : y;
        text(out, "", f->last + 4, y + 4, name[i].text);
        at = y;
    }
}

void svg_lines(FILE *out, const char *title, const struct svg_panel panels[], unsigned n)
{
    const double width = (WIDTH - GAP * (n - 1.0)) / n;

    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" "
            "role=\"img\">\n"
            "<title>%s</title>\n<style>\n%s</style>\n<rect class=\"back\" width=\"%d\" height=\"%d\"/>\n",
            WIDTH, HEIGHT, WIDTH, HEIGHT, title, style, WIDTH, HEIGHT);
    for (unsigned i = 0; i < n; i++) {
        const double left = i * (width + GAP);
        const struct frame_of_panel f = {&panels[i], left, left + SCALE_LEFT, left + width - NAMES};

        axes(out, &f);
        for (unsigned s = 0; s < panels[i].series; s++)
            curve(out, &f, s);
        names(out, &f);
    }
    fputs("</svg>\n", out);
}
