#include "show/telemetry.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "show/views.h"

#define PREFIX "/swagg/"

/* --- a view as an answer --- */

static uint64_t number_of(const json_t *value)
{
    return json_is_integer(value) ? (uint64_t)json_integer_value(value) : json_is_true(value);
}

/* Whole items, or "..." in the place of one and of all that come after it: half a number would be another. */
const char *telemetry_cell(char text[TELEMETRY_CELL_MAX], const json_t *list)
{
    static const char more[] = " ...";
    const json_t *value;
    size_t i, n = 0;

    text[0] = '\0';
    json_array_foreach (list, i, value) {
        char number[24];
        const char *item = json_is_string(value) ? json_string_value(value) : number;

        snprintf(number, sizeof(number), "%" PRIu64, number_of(value));
        if (n + 1 + strlen(item) + sizeof(more) > TELEMETRY_CELL_MAX) {
            snprintf(text + n, TELEMETRY_CELL_MAX - n, "%s", n > 0 ? more : more + 1);
            return text;
        }
        n += (size_t)snprintf(text + n, TELEMETRY_CELL_MAX - n, "%s%s", n > 0 ? " " : "", item);
    }
    return text;
}

static void add_item(struct rte_tel_data *list, const json_t *value)
{
    char cell[TELEMETRY_CELL_MAX];

    if (json_is_array(value))
        rte_tel_data_add_array_string(list, telemetry_cell(cell, value));
    else if (json_is_string(value))
        rte_tel_data_add_array_string(list, json_string_value(value));
    else
        rte_tel_data_add_array_u64(list, number_of(value));
}

/* A list of these values, or with key of what each has under it, under a name of the answer's. */
static void add_list(struct rte_tel_data *answer, const char *name, bool texts, const json_t *values,
                     const char *key)
{
    struct rte_tel_data *list = rte_tel_data_alloc();
    const json_t *value;
    size_t i;

    if (list == NULL)
        return;
    rte_tel_data_start_array(list, texts ? RTE_TEL_STRING_VAL : RTE_TEL_U64_VAL);
    json_array_foreach (values, i, value)
        add_item(list, key != NULL ? json_object_get(value, key) : value);
    rte_tel_data_add_dict_container(answer, name, list, 0);
}

static void add_table(struct rte_tel_data *answer, const char *table, const json_t *rows)
{
    char name[RTE_TEL_MAX_STRING_LEN];
    const char *key;
    json_t *first;

    json_object_foreach (json_array_get(rows, 0), key, first) {
        snprintf(name, sizeof(name), "%s/%s", table, key);
        add_list(answer, name, json_is_string(first) || json_is_array(first), rows, key);
    }
}

static void write_answer(struct rte_tel_data *answer, const struct view *view, const json_t *object)
{
    const char *key;
    json_t *value;

    rte_tel_data_start_dict(answer);
    json_object_foreach ((json_t *)object, key, value) {
        const struct view_field *field = view_field(view->fields, key);

        if (json_is_string(value))
            rte_tel_data_add_dict_string(answer, key, json_string_value(value));
        else if (!json_is_array(value))
            rte_tel_data_add_dict_u64(answer, key, number_of(value));
        else if (field != NULL && field->type == VIEW_TABLE)
            add_table(answer, key, value);
        else
            add_list(answer, key, field != NULL && field->type == VIEW_TEXTS, value, NULL);
    }
}

/* --- commands --- */

/* Global, since DPDK passes no context to a command, and cannot unregister one. */
static struct {
    pthread_mutex_t lock;    /* held while a command runs, so that what it shows stays */
    struct show_parts parts; /* lcores NULL: stopped */
} shown = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Nothing is shown of what there is not. */
static int answer(const struct view *view, const char *params, struct rte_tel_data *d)
{
    json_t *object, *counters;
    struct view_out out;
    int rc;

    view_begin(&out, view);
    rc = view_gather(&shown.parts, view, view->of == VIEW_OF_ALL ? NULL : params, &out);
    if (view_end(&out, &object, &counters) < 0)
        return -ENOMEM;
    if (rc == 0)
        write_answer(d, view, object);
    json_decref(object);
    json_decref(counters);
    return rc;
}

static int run_command(const char *name, const char *params, struct rte_tel_data *d)
{
    const struct view *view = views_find(name + strlen(PREFIX));
    int rc = -ENOENT;

    pthread_mutex_lock(&shown.lock);
    if (shown.parts.lcores != NULL && view != NULL)
        rc = answer(view, params, d);
    pthread_mutex_unlock(&shown.lock);
    return rc;
}

static int register_view(const struct view *view)
{
    static const char *const parameter[] = {"", ". Parameter: its name", ". Optional parameter: its name"};
    char name[64], help[128];
    int rc;

    snprintf(name, sizeof(name), PREFIX "%s", view->name);
    snprintf(help, sizeof(help), "%s%s", view->help,
             parameter[view->of == VIEW_OF_ALL ? 0 : 1 + view->optional]);
    rc = rte_telemetry_register_cmd(name, run_command, help);
    if (rc < 0)
        log_error("cannot register the telemetry command %s: %s", name, strerror(-rc));
    return rc;
}

int telemetry_start(const struct show_parts *parts)
{
    int rc = 0;

    shown.parts = *parts;
    for (unsigned i = 0; i < VIEWS && rc == 0; i++)
        rc = register_view(&views[i]);
    return rc;
}

void telemetry_stop(void)
{
    pthread_mutex_lock(&shown.lock);
    shown.parts = (struct show_parts){0};
    pthread_mutex_unlock(&shown.lock);
}
