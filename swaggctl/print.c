#include "print.h"

#include <stdlib.h>
#include <string.h>

#include "views/view.h"

enum { CELL_MAX = 4096, KEY_MAX = 128, KNOWN_MAX = 1024 };

static bool is_table(const json_t *value)
{
    return json_is_array(value) && json_is_object(json_array_get(value, 0));
}

/* --- numbers with units --- */

/* Steps from unit to unit, each so many times the one before. */
struct step {
    double times;
    const char *unit;
};

static const struct scale {
    const char *unit; /* of the field */
    struct step step[7];
} scales[] = {
    {"bytes", {{1, "B"}, {1000, "kB"}, {1000, "MB"}, {1000, "GB"}, {1000, "TB"}, {1000, "PB"}}},
    {"bytes/s", {{1, "B/s"}, {1000, "kB/s"}, {1000, "MB/s"}, {1000, "GB/s"}, {1000, "TB/s"}}},
    {"us", {{1, "us"}, {1000, "ms"}, {1000, "s"}, {60, "min"}, {60, "h"}, {24, "d"}}},
    {"ms", {{1, "ms"}, {1000, "s"}, {60, "min"}, {60, "h"}, {24, "d"}}},
    {"s", {{1, "s"}, {60, "min"}, {60, "h"}, {24, "d"}}},
};

/* NULL: a number of this key is shown as it is. */
static const struct scale *scale_of(const struct view_field *fields, const char *key)
{
    const struct view_field *f = fields == NULL ? NULL : view_field(fields, key);

    for (unsigned i = 0; f != NULL && f->unit != NULL && i < sizeof(scales) / sizeof(scales[0]); i++)
        if (strcmp(scales[i].unit, f->unit) == 0)
            return &scales[i];
    return NULL;
}

/* Whole numbers stay whole up to where the next unit has two digits, so that an MTU is 1500 B. */
static void write_scaled(char *cell, size_t room, double n, const struct scale *scale)
{
    const struct step *step = scale->step;

    for (; step[1].unit != NULL && n >= 10 * step[1].times; step++)
        n /= step[1].times;
    snprintf(cell, room, "%.*f %s", step != scale->step && n < 99.95 ? 1 : 0, n, step->unit);
}

/* --- cells --- */

/* On one line, without what a terminal would obey: what operators have asked for, and what another switch
 * tells, is shown to others. Some such characters begin, in UTF-8, with 0xc2. */
static void write_text(char *cell, size_t room, const char *text)
{
    snprintf(cell, room, "%s", text);
    for (unsigned char *c = (unsigned char *)cell; *c != '\0'; c++)
        if (*c == '\n' || *c == '\t')
            *c = ' ';
        else if (*c < ' ' || *c == 0x7f)
            *c = '?';
        else if (*c == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0)
            c[0] = c[1] = '?';
}

static void write_scalar(char *cell, size_t room, const json_t *value, const struct scale *scale)
{
    if (json_is_string(value))
        write_text(cell, room, json_string_value(value));
    else if (json_is_integer(value) && scale != NULL)
        write_scaled(cell, room, (double)json_integer_value(value), scale);
    else if (json_is_integer(value))
        snprintf(cell, room, "%lld", (long long)json_integer_value(value));
    else if (json_is_real(value))
        snprintf(cell, room, "%.1f", json_real_value(value));
    else if (json_is_boolean(value))
        snprintf(cell, room, "%s", json_is_true(value) ? "yes" : "no");
    else
        cell[0] = '\0';
}

/* fields: what the key may be one of; NULL: numbers are shown as they are. */
static const char *write_cell(char cell[CELL_MAX], const json_t *value, const struct view_field *fields,
                              const char *key)
{
    const struct scale *scale = scale_of(fields, key);
    const json_t *item;
    size_t i, used = 0;

    cell[0] = '\0';
    if (!json_is_array(value))
        write_scalar(cell, CELL_MAX, value, scale);
    else
        json_array_foreach (value, i, item) {
            if (i > 0 && used < CELL_MAX - 1)
                cell[used++] = ',';
            write_scalar(cell + used, CELL_MAX - used, item, scale);
            used += strlen(cell + used);
        }
    if (cell[0] == '\0')
        strcpy(cell, "-");
    return cell;
}

/* What is to be shown of an object, in order: all, or of the keys in only those that it has. The caller's. */
static json_t *choose(const json_t *object, const char *only)
{
    json_t *chosen;

    if (only == NULL)
        return json_copy((json_t *)object);
    chosen = json_object();
    for (const char *word = only; *word != '\0'; word += strcspn(word, ","), word += *word == ',') {
        const size_t n = strcspn(word, ",");

        json_object_setn(chosen, word, n, json_object_getn(object, word, n));
    }
    return chosen;
}

/* Returns whether there was any. */
static bool print_values(FILE *to, const json_t *chosen, const struct view_field *fields)
{
    char cell[CELL_MAX];
    int width = 0;
    bool any = false;
    const char *key;
    json_t *value;

    json_object_foreach ((json_t *)chosen, key, value) {
        if (!is_table(value) && (int)strlen(key) > width)
            width = (int)strlen(key);
    }
    json_object_foreach ((json_t *)chosen, key, value) {
        if (is_table(value))
            continue;
        fprintf(to, "%-*s  %s\n", width, key, write_cell(cell, value, fields, key));
        any = true;
    }
    return any;
}

/* Numbers are aligned to the right, all else to the left; nothing follows the last column. */
static void print_cell(FILE *to, const char *text, int width, bool number, bool last)
{
    if (number)
        fprintf(to, "%*s%s", width, text, last ? "" : "  ");
    else if (last)
        fputs(text, to);
    else
        fprintf(to, "%-*s  ", width, text);
}

/* How wide the column is, which is headed so, or with NULL by nothing. */
static int measure(const json_t *table, const char *column, const char *heading,
                   const struct view_field *fields)
{
    int width = heading == NULL ? 0 : (int)strlen(heading);
    char cell[CELL_MAX];
    const json_t *row;
    size_t r;

    json_array_foreach (table, r, row) {
        const int n = (int)strlen(write_cell(cell, json_object_get(row, column), fields, column));

        if (n > width)
            width = n;
    }
    return width;
}

/* row NULL: the header. width: of each column, by its name. */
static void print_row(FILE *to, const json_t *row, const json_t *columns, const json_t *width,
                      const struct view_field *fields)
{
    size_t left = json_object_size(columns);
    char cell[CELL_MAX];
    const char *key;
    json_t *first;

    json_object_foreach ((json_t *)columns, key, first) {
        const json_t *value = row == NULL ? first : json_object_get(row, key);

        print_cell(to, row == NULL ? key : write_cell(cell, value, fields, key),
                   (int)json_integer_value(json_object_get(width, key)), json_is_number(value), --left == 0);
    }
    fputc('\n', to);
}

static void print_table(FILE *to, const json_t *table, const json_t *columns, const struct print_style *style)
{
    const struct view_field *fields = style->view == NULL ? NULL : style->view->row;
    json_t *width = json_object(), *value;
    const json_t *row;
    const char *key;
    size_t r;

    json_object_foreach ((json_t *)columns, key, value)
        json_object_set_new(width, key,
                            json_integer(measure(table, key, style->no_header ? NULL : key, fields)));
    if (!style->no_header)
        print_row(to, NULL, columns, width, fields);
    json_array_foreach (table, r, row)
        print_row(to, row, columns, width, fields);
    json_decref(width);
}

/* below: something was printed above it. Returns whether there is something now. */
static bool print_chosen_table(FILE *to, const json_t *table, const struct print_style *style, bool below)
{
    json_t *columns = choose(json_array_get(table, 0), style->only);
    const bool any = json_object_size(columns) > 0;

    if (any && below)
        fputc('\n', to);
    if (any)
        print_table(to, table, columns, style);
    json_decref(columns);
    return any || below;
}

/* Such a table looks like a list without items. */
bool print_is_empty(const json_t *view)
{
    const json_t *value = json_object_iter_value(json_object_iter((json_t *)view));

    return json_object_size(view) == 1 && json_is_array(value) && json_array_size(value) == 0;
}

/* Whether it is one of these, which are told by their paths. */
static bool is_counter(const json_t *counters, const char *table, const char *key)
{
    char path[2 * KEY_MAX];
    const json_t *counter;
    size_t i;

    snprintf(path, sizeof(path), "%s%s%s", table, table[0] != '\0' ? "/" : "", key);
    json_array_foreach (counters, i, counter)
        if (strcmp(json_string_value(counter) != NULL ? json_string_value(counter) : "", path) == 0)
            return true;
    return false;
}

static bool is_zero(const json_t *value)
{
    return json_is_integer(value) && json_integer_value(value) == 0;
}

static bool is_zero_in_all(const json_t *rows, const char *column)
{
    const json_t *row;
    size_t i;

    json_array_foreach (rows, i, row)
        if (!is_zero(json_object_get(row, column)))
            return false;
    return true;
}

/* Takes the columns of these counters out of the table's rows that are 0 in all. Returns how many. */
static unsigned spare_columns(json_t *rows, const char *table, const json_t *counters)
{
    json_t *columns = json_copy(json_array_get(rows, 0)), *first, *row;
    unsigned n = 0;
    const char *key;
    size_t i;

    json_object_foreach (columns, key, first) {
        if (!is_counter(counters, table, key) || !is_zero_in_all(rows, key))
            continue;
        json_array_foreach (rows, i, row)
            json_object_del(row, key);
        n++;
    }
    json_decref(columns);
    return n;
}

/* The same of the view and its tables. */
static unsigned spare(json_t *view, const json_t *counters)
{
    const char *key;
    void *next;
    json_t *value;
    unsigned n = 0;

    json_object_foreach_safe (view, next, key, value) {
        if (is_table(value)) {
            n += spare_columns(value, key, counters);
        } else if (is_counter(counters, "", key) && is_zero(value)) {
            json_object_del(view, key);
            n++;
        }
    }
    return n;
}

static bool print_all(FILE *to, const json_t *view, const struct print_style *style)
{
    json_t *chosen = choose(view, style->only), *value;
    const char *key;
    bool below = print_values(to, chosen, style->view == NULL ? NULL : style->view->fields);

    json_decref(chosen);
    json_object_foreach ((json_t *)view, key, value) {
        if (is_table(value))
            below = print_chosen_table(to, value, style, below);
    }
    return below;
}

void print_view(FILE *to, const json_t *view, const struct print_style *style)
{
    json_t *rest;
    unsigned spared;
    bool below;

    if (print_is_empty(view))
        return;
    if (style->spared == NULL) {
        print_all(to, view, style);
        return;
    }
    rest = json_deep_copy(view);
    spared = spare(rest, style->spared);
    below = print_all(to, rest, style);
    json_decref(rest);
    if (spared > 0)
        fprintf(to, "%scounters that are 0, left out: %u (--all shows them)\n", below ? "\n" : "", spared);
}

static bool has(const json_t *view, const char *wanted)
{
    const char *key;
    json_t *value;

    if (json_object_get(view, wanted) != NULL)
        return true;
    json_object_foreach ((json_t *)view, key, value)
        if (json_is_array(value) &&
            (json_array_size(value) == 0 || json_object_get(json_array_get(value, 0), wanted) != NULL))
            return true; /* of a table without rows nobody knows the columns */
    return false;
}

static size_t add_known(char *text, size_t room, size_t used, const json_t *object)
{
    const char *key;
    json_t *value;

    json_object_foreach ((json_t *)object, key, value) {
        if (used < room && !is_table(value))
            used += (size_t)snprintf(text + used, room - used, "%s%s", used > 0 ? ", " : "", key);
    }
    return used;
}

/* "name, link": the keys of a view, and the columns of its tables. */
static void list_known(char *text, size_t room, const json_t *view)
{
    size_t used = add_known(text, room, 0, view);
    const char *key;
    json_t *value;

    json_object_foreach ((json_t *)view, key, value) {
        if (is_table(value))
            used = add_known(text, room, used, json_array_get(value, 0));
    }
}

bool print_lacks(const json_t *view, const struct print_style *style, char *why, size_t room)
{
    char wanted[KEY_MAX], known[KNOWN_MAX] = "";

    for (const char *word = style->only; word != NULL && *word != '\0';
         word += strcspn(word, ","), word += *word == ',') {
        snprintf(wanted, sizeof(wanted), "%.*s", (int)strcspn(word, ","), word);
        if (has(view, wanted))
            continue;
        list_known(known, sizeof(known), view);
        snprintf(why, room, "--only: there is no %s in this view; there are: %s", wanted, known);
        return true;
    }
    return false;
}

/* --- rates --- */

struct rates {
    const json_t *counters; /* their paths */
    double seconds;
    bool beside;
};

static double growth(const json_t *now, const json_t *before, double seconds)
{
    const json_int_t is = json_integer_value(now), was = json_integer_value(before);

    return json_is_integer(before) && is >= was && seconds > 0 ? (double)(is - was) / seconds : 0;
}

/* The row that begins with the same value. */
static const json_t *same_row(const json_t *table, const json_t *row)
{
    const json_t *first = json_object_iter_value(json_object_iter((json_t *)row)), *other;
    size_t i;

    json_array_foreach (table, i, other)
        if (json_equal(json_object_iter_value(json_object_iter((json_t *)other)), first))
            return other;
    return NULL;
}

static json_t *rate_object(const struct rates *r, const char *table, const json_t *object,
                           const json_t *before);

static json_t *rate_table(const struct rates *r, const char *key, const json_t *rows, const json_t *before)
{
    json_t *rated = json_array();
    const json_t *row;
    size_t i;

    json_array_foreach (rows, i, row)
        json_array_append_new(rated, rate_object(r, key, row, same_row(before, row)));
    return rated;
}

static json_t *rate_object(const struct rates *r, const char *table, const json_t *object,
                           const json_t *before)
{
    json_t *rated = json_object(), *value;
    const char *key;
    char name[128];

    json_object_foreach ((json_t *)object, key, value) {
        const json_t *was = json_object_get(before, key);

        if (is_table(value)) {
            json_object_set_new(rated, key, rate_table(r, key, value, was));
            continue;
        }
        if (!is_counter(r->counters, table, key)) {
            json_object_set(rated, key, value);
            continue;
        }
        if (r->beside)
            json_object_set(rated, key, value);
        snprintf(name, sizeof(name), "%s/s", key);
        json_object_set_new(rated, name, json_real(growth(value, was, r->seconds)));
    }
    return rated;
}

json_t *rates_view(const json_t *answer, const json_t *before, double seconds, bool beside)
{
    const struct rates r = {json_object_get(answer, "counters"), seconds, beside};

    return rate_object(&r, "", json_object_get(answer, "view"), json_object_get(before, "view"));
}
