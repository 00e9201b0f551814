#include "rates.h"

#include <stdio.h>
#include <string.h>

struct rates {
    const json_t *counters; /* their paths */
    double seconds;
    bool beside;
};

static bool is_counter(const struct rates *r, const char *table, const char *key)
{
    char path[256];
    const json_t *counter;
    size_t i;

    snprintf(path, sizeof(path), "%s%s%s", table, table[0] != '\0' ? "/" : "", key);
    json_array_foreach(
        r->counters, i,
        counter) if (strcmp(json_string_value(counter) != NULL ? json_string_value(counter) : "", path) ==
                     0) return true;
    return false;
}

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

    json_array_foreach(
        table, i,
        other) if (json_equal(json_object_iter_value(json_object_iter((json_t *)other)), first)) return other;
    return NULL;
}

static json_t *rate_object(const struct rates *r, const char *table, const json_t *object,
                           const json_t *before);

static json_t *rate_table(const struct rates *r, const char *key, const json_t *rows, const json_t *before)
{
    json_t *rated = json_array();
    const json_t *row;
    size_t i;

    json_array_foreach(rows, i, row)
        json_array_append_new(rated, rate_object(r, key, row, same_row(before, row)));
    return rated;
}

static json_t *rate_object(const struct rates *r, const char *table, const json_t *object,
                           const json_t *before)
{
    json_t *rated = json_object(), *value;
    const char *key;
    char name[128];

    json_object_foreach((json_t *)object, key, value)
    {
        const json_t *was = json_object_get(before, key);

        if (json_is_array(value) && json_is_object(json_array_get(value, 0))) {
            json_object_set_new(rated, key, rate_table(r, key, value, was));
            continue;
        }
        if (!is_counter(r, table, key)) {
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
