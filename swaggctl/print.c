#include "print.h"

#include <stdlib.h>
#include <string.h>

enum { COLUMNS_MAX = 64, CELL_MAX = 4096, KEY_MAX = 128, KNOWN_MAX = 1024 };

/* Keys of an object, in order. */
struct keys {
    unsigned n;
    char key[COLUMNS_MAX][KEY_MAX];
};

static bool is_table(const json_t *value)
{
    return json_is_array(value) && json_is_object(json_array_get(value, 0));
}

static void write_scalar(char *cell, size_t room, const json_t *value)
{
    if (json_is_string(value))
        snprintf(cell, room, "%s", json_string_value(value));
    else if (json_is_integer(value))
        snprintf(cell, room, "%lld", (long long)json_integer_value(value));
    else if (json_is_real(value))
        snprintf(cell, room, "%.1f", json_real_value(value));
    else if (json_is_boolean(value))
        snprintf(cell, room, "%s", json_is_true(value) ? "yes" : "no");
    else
        cell[0] = '\0';
}

static const char *write_cell(char cell[CELL_MAX], const json_t *value)
{
    const json_t *item;
    size_t i, used = 0;

    cell[0] = '\0';
    if (!json_is_array(value))
        write_scalar(cell, CELL_MAX, value);
    else
        json_array_foreach(value, i, item)
        {
            if (i > 0 && used < CELL_MAX - 1)
                cell[used++] = ',';
            write_scalar(cell + used, CELL_MAX - used, item);
            used += strlen(cell + used);
        }
    if (cell[0] == '\0')
        strcpy(cell, "-");
    return cell;
}

static void add_key(struct keys *keys, const char *key, size_t length)
{
    if (keys->n < COLUMNS_MAX)
        snprintf(keys->key[keys->n++], KEY_MAX, "%.*s", (int)length, key);
}

/* The keys to show of an object: all, or of those in only the ones that it has. */
static void choose_keys(struct keys *keys, const json_t *object, const char *only)
{
    const char *key;
    json_t *value;

    keys->n = 0;
    if (only == NULL) {
        json_object_foreach((json_t *)object, key, value) add_key(keys, key, strlen(key));
        return;
    }
    for (const char *word = only; *word != '\0'; word += strcspn(word, ","), word += *word == ',') {
        add_key(keys, word, strcspn(word, ","));
        if (json_object_get(object, keys->key[keys->n - 1]) == NULL)
            keys->n--;
    }
}

/* Returns whether there was any. */
static bool print_values(FILE *to, const json_t *view, const struct keys *keys)
{
    char cell[CELL_MAX];
    int width = 0;
    bool any = false;

    for (unsigned i = 0; i < keys->n; i++)
        if (!is_table(json_object_get(view, keys->key[i])) && (int)strlen(keys->key[i]) > width)
            width = (int)strlen(keys->key[i]);
    for (unsigned i = 0; i < keys->n; i++) {
        const json_t *value = json_object_get(view, keys->key[i]);

        if (is_table(value))
            continue;
        fprintf(to, "%-*s  %s\n", width, keys->key[i], write_cell(cell, value));
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

static void measure(int width[COLUMNS_MAX], const json_t *table, const struct keys *keys, bool header)
{
    char cell[CELL_MAX];
    const json_t *row;
    size_t r;

    for (unsigned c = 0; c < keys->n; c++) {
        width[c] = header ? (int)strlen(keys->key[c]) : 0;
        json_array_foreach(table, r, row)
        {
            const int n = (int)strlen(write_cell(cell, json_object_get(row, keys->key[c])));

            if (n > width[c])
                width[c] = n;
        }
    }
}

/* below: something was printed above it. */
static void print_table(FILE *to, const json_t *table, const struct print_style *style, bool below)
{
    const json_t *first = json_array_get(table, 0), *row;
    char cell[CELL_MAX];
    int width[COLUMNS_MAX];
    struct keys keys;
    size_t r;

    choose_keys(&keys, first, style->only);
    if (keys.n == 0)
        return;
    if (below)
        fputc('\n', to);
    measure(width, table, &keys, !style->no_header);
    for (unsigned c = 0; c < keys.n && !style->no_header; c++)
        print_cell(to, keys.key[c], width[c], json_is_number(json_object_get(first, keys.key[c])),
                   c + 1 == keys.n);
    if (!style->no_header)
        fputc('\n', to);
    json_array_foreach(table, r, row)
    {
        for (unsigned c = 0; c < keys.n; c++) {
            const json_t *value = json_object_get(row, keys.key[c]);

            print_cell(to, write_cell(cell, value), width[c], json_is_number(value), c + 1 == keys.n);
        }
        fputc('\n', to);
    }
}

/* Such a table looks like a list without items. */
bool print_is_empty(const json_t *view)
{
    const json_t *value = json_object_iter_value(json_object_iter((json_t *)view));

    return json_object_size(view) == 1 && json_is_array(value) && json_array_size(value) == 0;
}

void print_view(FILE *to, const json_t *view, const struct print_style *style)
{
    struct keys keys;
    const char *key;
    json_t *value;
    bool below;

    if (print_is_empty(view))
        return;
    choose_keys(&keys, view, style->only);
    below = print_values(to, view, &keys);
    json_object_foreach((json_t *)view, key, value)
    {
        if (is_table(value))
            print_table(to, value, style, below);
        below |= is_table(value);
    }
}

static bool has(const json_t *view, const char *wanted)
{
    const char *key;
    json_t *value;

    if (json_object_get(view, wanted) != NULL)
        return true;
    json_object_foreach(
        (json_t *)view, key,
        value) if (json_is_array(value) &&
                   (json_array_size(value) == 0 ||
                    json_object_get(json_array_get(value, 0), wanted) !=
                        NULL)) return true; /* of a table without rows nobody knows the columns */
    return false;
}

static size_t add_known(char *text, size_t room, size_t used, const json_t *object)
{
    const char *key;
    json_t *value;

    json_object_foreach((json_t *)object, key, value)
    {
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

    json_object_foreach((json_t *)view, key, value)
    {
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
