#include "show/writer_telemetry.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static struct writer_telemetry *of(struct writer *w)
{
    return (struct writer_telemetry *)w;
}

/* The list of a column, begun in the table's first row; NULL: no memory, or too many columns. */
static struct rte_tel_data *column(struct writer_telemetry *w, const char *key, enum rte_tel_value_type type)
{
    struct writer_column *c = w->column;

    for (; c < &w->column[w->columns]; c++)
        if (strcmp(c->key, key) == 0)
            return c->list;
    if (w->columns == WRITER_COLUMNS_MAX)
        return NULL;
    w->columns++;
    *c = (struct writer_column){.key = key, .list = rte_tel_data_alloc()};
    if (c->list != NULL)
        rte_tel_data_start_array(c->list, type);
    return c->list;
}

/* A whole item, or "..." in the place of it and of all that come after it: half a number would be another. */
static void append(struct writer_telemetry *w, const char *item)
{
    static const char more[] = " ...";
    const size_t n = strlen(w->cell);

    if (w->cut)
        return;
    w->cut = n + 1 + strlen(item) + sizeof(more) > sizeof(w->cell);
    snprintf(w->cell + n, sizeof(w->cell) - n, "%s%s", n > 0 ? " " : "", w->cut ? more + 1 : item);
}

static void put_text(struct writer *writer, const char *key, const char *value)
{
    struct writer_telemetry *w = of(writer);
    struct rte_tel_data *list = w->list;

    if (w->in_cell) {
        append(w, value);
        return;
    }
    if (w->list_key == NULL && !w->in_row) {
        rte_tel_data_add_dict_string(w->answer, key, value);
        return;
    }
    if (w->in_row)
        list = column(w, key, RTE_TEL_STRING_VAL);
    if (list != NULL)
        rte_tel_data_add_array_string(list, value);
}

static void put_number(struct writer *writer, const char *key, uint64_t value, enum writer_number kind)
{
    struct writer_telemetry *w = of(writer);
    struct rte_tel_data *list = w->list;
    char text[24];

    (void)kind;
    if (w->in_cell) {
        snprintf(text, sizeof(text), "%" PRIu64, value);
        append(w, text);
        return;
    }
    if (w->list_key == NULL && !w->in_row) {
        rte_tel_data_add_dict_u64(w->answer, key, value);
        return;
    }
    if (w->in_row)
        list = column(w, key, RTE_TEL_U64_VAL);
    if (list != NULL)
        rte_tel_data_add_array_u64(list, value);
}

static void put_flag(struct writer *writer, const char *key, bool value)
{
    put_number(writer, key, value, WRITER_STATE);
}

static void begin_list(struct writer *writer, const char *key, bool numbers)
{
    struct writer_telemetry *w = of(writer);

    w->list_key = key;
    w->in_cell = w->in_row;
    if (w->in_cell) {
        w->cell[0] = '\0';
        w->cut = false;
        return;
    }
    w->list = rte_tel_data_alloc();
    if (w->list != NULL)
        rte_tel_data_start_array(w->list, numbers ? RTE_TEL_U64_VAL : RTE_TEL_STRING_VAL);
}

static void begin_table(struct writer *writer, const char *key)
{
    of(writer)->table = key;
    of(writer)->columns = 0;
}

static void begin_row(struct writer *writer)
{
    of(writer)->in_row = true;
}

static void end_list(struct writer_telemetry *w)
{
    if (w->in_cell) {
        w->in_cell = false;
        put_text(&w->writer, w->list_key, w->cell);
    } else if (w->list != NULL) {
        rte_tel_data_add_dict_container(w->answer, w->list_key, w->list, 0);
    }
    w->list = NULL;
    w->list_key = NULL;
}

static void end_table(struct writer_telemetry *w)
{
    char name[RTE_TEL_MAX_STRING_LEN];

    for (struct writer_column *c = w->column; c < &w->column[w->columns]; c++) {
        snprintf(name, sizeof(name), "%s/%s", w->table, c->key);
        if (c->list != NULL)
            rte_tel_data_add_dict_container(w->answer, name, c->list, 0);
    }
    w->table = NULL;
}

static void end(struct writer *writer)
{
    struct writer_telemetry *w = of(writer);

    if (w->list_key != NULL)
        end_list(w);
    else if (w->in_row)
        w->in_row = false;
    else
        end_table(w);
}

void writer_telemetry_init(struct writer_telemetry *w, struct rte_tel_data *answer)
{
    static const struct writer_ops ops = {.text = put_text,
                                          .number = put_number,
                                          .flag = put_flag,
                                          .list = begin_list,
                                          .table = begin_table,
                                          .row = begin_row,
                                          .end = end};

    *w = (struct writer_telemetry){.writer = {.ops = &ops}, .answer = answer};
    rte_tel_data_start_dict(answer);
}
