#include "scale/costs.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "sim.h"

enum { RUNS_MAX = 99 };

static _Noreturn void die(const char *path, const char *why)
{
    char text[512];

    snprintf(text, sizeof(text), "--costs: %s: %s", path, why);
    sim_die(text);
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Of a quantity as records have it: {"median": ...}, or the values of all runs. 0: neither. */
static double median(const json_t *quantity)
{
    double run[RUNS_MAX];
    const size_t runs = json_array_size(quantity) < RUNS_MAX ? json_array_size(quantity) : RUNS_MAX;

    if (json_is_object(quantity))
        return json_number_value(json_object_get(quantity, "median"));
    for (size_t i = 0; i < runs; i++)
        run[i] = json_number_value(json_array_get(quantity, i));
    qsort(run, runs, sizeof(run[0]), by_size);
    return runs == 0 ? 0 : (run[(runs - 1) / 2] + run[runs / 2]) / 2;
}

static void add(struct costs *c, const json_t *row, const char *path)
{
    const json_t *size = json_object_get(row, "size");
    const double mpps = median(json_object_get(row, "mpps"));
    const unsigned last = c->sizes > 0 ? c->at[c->sizes - 1].frame_bytes : 0;

    if (!json_is_integer(size) || json_integer_value(size) <= last || !(mpps > 0) || c->sizes == COSTS_MAX)
        die(path, "\"aggregated\" is not a list of frame sizes, the smallest first, with their packet rates");
    c->at[c->sizes].frame_bytes = (unsigned)json_integer_value(size);
    c->at[c->sizes].ns = 1e3 / mpps;
    c->sizes++;
}

struct costs costs_read(const char *path)
{
    struct costs c = {0};
    json_error_t error;
    json_t *record = json_load_file(path, 0, &error), *rows = json_object_get(record, "aggregated");

    if (record == NULL)
        die(path, error.text);
    for (size_t i = 0; i < json_array_size(rows); i++)
        add(&c, json_array_get(rows, i), path);
    json_decref(record);
    if (c.sizes == 0)
        die(path, "it has no list \"aggregated\": this is not a record of script/bench dataplane");
    return c;
}

uint64_t costs_ps(const struct costs *c, unsigned frame_bytes)
{
    unsigned i = 0;

    if (frame_bytes <= c->at[0].frame_bytes)
        return (uint64_t)(c->at[0].ns * 1e3);
    while (i + 1 < c->sizes && c->at[i + 1].frame_bytes < frame_bytes)
        i++;
    if (i + 1 == c->sizes)
        return (uint64_t)(c->at[i].ns * 1e3 * frame_bytes / c->at[i].frame_bytes);
    const double part =
        (double)(frame_bytes - c->at[i].frame_bytes) / (c->at[i + 1].frame_bytes - c->at[i].frame_bytes);
    return (uint64_t)((c->at[i].ns + part * (c->at[i + 1].ns - c->at[i].ns)) * 1e3);
}
