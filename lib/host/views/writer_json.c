#include "views/writer_json.h"

#include <errno.h>
#include <stdio.h>

static struct writer_json *of(struct writer *w)
{
    return (struct writer_json *)w;
}

/* Puts a value into the innermost object or array, which takes it over. */
static void put(struct writer_json *w, const char *key, json_t *value)
{
    json_t *into = w->open[w->depth].value;

    if ((json_is_object(into) ? json_object_set_new(into, key, value) : json_array_append_new(into, value)) <
        0)
        w->failed = true;
}

/* Goes into a value that was put last. */
static void enter(struct writer_json *w, const char *key, json_t *value, const char *table)
{
    put(w, key, value);
    w->depth++;
    w->open[w->depth].value = value;
    w->open[w->depth].key = table;
}

static void put_text(struct writer *w, const char *key, const char *value)
{
    put(of(w), key, json_string(value));
}

/* The path of a number that only grows, as an operator's tool finds it again. */
static void note_counter(struct writer_json *w, const char *key)
{
    const char *table = w->depth >= 2 ? w->open[w->depth - 1].key : NULL;
    char path[128];

    snprintf(path, sizeof(path), "%s%s%s", table != NULL ? table : "", table != NULL ? "/" : "", key);
    if (json_object_set_new(w->counters, path, json_true()) < 0)
        w->failed = true;
}

static void put_number(struct writer *writer, const char *key, uint64_t value, enum writer_number kind)
{
    struct writer_json *w = of(writer);

    put(w, key, json_integer((json_int_t)value));
    if (kind == WRITER_COUNTS)
        note_counter(w, key);
}

static void put_flag(struct writer *w, const char *key, bool value)
{
    put(of(w), key, json_boolean(value));
}

static void begin_list(struct writer *w, const char *key, bool numbers)
{
    (void)numbers;
    enter(of(w), key, json_array(), NULL);
}

static void begin_table(struct writer *w, const char *key)
{
    enter(of(w), key, json_array(), key);
}

static void begin_row(struct writer *w)
{
    enter(of(w), NULL, json_object(), NULL);
}

static void end(struct writer *w)
{
    of(w)->depth--;
}

void writer_json_init(struct writer_json *w)
{
    static const struct writer_ops ops = {.text = put_text,
                                          .number = put_number,
                                          .flag = put_flag,
                                          .list = begin_list,
                                          .table = begin_table,
                                          .row = begin_row,
                                          .end = end};

    *w = (struct writer_json){.writer = {.ops = &ops}, .counters = json_object()};
    w->open[0].value = json_object();
}

int writer_json_take(struct writer_json *w, json_t **view, json_t **counters)
{
    json_t *paths = json_array();
    const char *path;
    json_t *unused;

    json_object_foreach(w->counters, path, unused) if (json_array_append_new(paths, json_string(path)) < 0)
        w->failed = true;
    json_decref(w->counters);
    *view = w->open[0].value;
    *counters = paths;
    if (!w->failed && *view != NULL && paths != NULL)
        return 0;
    json_decref(*view);
    json_decref(paths);
    return -ENOMEM;
}
