#include "views/view.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/ranks.h"

json_t *view_json_text(const char *text)
{
    json_t *value = json_string(text);
    char *plain = value == NULL ? strdup(text) : NULL;

    if (plain == NULL)
        return value;
    for (char *c = plain; *c != '\0'; c++)
        if ((unsigned char)*c >= 0x80)
            *c = '?';
    value = json_string(plain);
    free(plain);
    return value;
}

/* Where values go: the view itself, or a row of its table. */
struct sink {
    struct view_out *out;
    json_t *object;
    const char *table; /* NULL: the view itself */
};

static void put(const struct sink *p, const char *key, json_t *value)
{
    if (json_object_set_new(p->object, key, value) < 0)
        p->out->failed = true;
}

/* The path of a number that only grows, as an operator's tool finds it again. */
static void put_counter(const struct sink *p, const char *key, uint64_t value)
{
    char path[128];

    snprintf(path, sizeof(path), "%s%s%s", p->table != NULL ? p->table : "", p->table != NULL ? "/" : "",
             key);
    if (json_object_set_new(p->out->counters, path, json_true()) < 0)
        p->out->failed = true;
    put(p, key, json_integer((json_int_t)value));
}

static void append(const struct sink *p, json_t *list, json_t *value)
{
    if (json_array_append_new(list, value) < 0)
        p->out->failed = true;
}

static json_t *delays(const struct sink *p, const struct view_delays *delays)
{
    json_t *list = json_array();

    for (unsigned i = 0; i < delays->n; i++)
        append(p, list, json_integer((json_int_t)delays->of[i]));
    return list;
}

static json_t *texts(const struct sink *p, const struct view_texts *texts)
{
    json_t *list = json_array();

    for (unsigned i = 0; i < texts->n; i++)
        append(p, list, json_string(texts->of + i * texts->each));
    return list;
}

static json_t *ranks(const struct sink *p, const struct view_ranks *ranks)
{
    json_t *list = json_array();

    for (unsigned rank = 0; rank < AGG_MAX_RANKS; rank++)
        if (ranks_has(ranks->set, rank))
            append(p, list, json_integer(rank));
    return list;
}

static void put_terms(const struct sink *p, const struct view_terms *of)
{
    struct agg_term list[AGG_LISTED_TERMS];
    const unsigned n = of->protocol->list(of->terms, list);

    put(p, "protocol", json_string(of->protocol->name));
    for (unsigned i = 0; i < n; i++)
        put(p, list[i].name, list[i].word != NULL ? json_string(list[i].word) : json_integer(list[i].number));
}

static void put_field(const struct sink *p, const struct view_field *f, const void *at)
{
    const struct view_counts *counts = at;

    switch (f->type) {
    case VIEW_TEXT:
        if (*(const char *const *)at != NULL)
            put(p, f->name, view_json_text(*(const char *const *)at));
        break;
    case VIEW_CHARS:
        put(p, f->name, view_json_text(at));
        break;
    case VIEW_GAUGE:
    case VIEW_ID:
        put(p, f->name, json_integer(*(const json_int_t *)at));
        break;
    case VIEW_COUNTER:
        put_counter(p, f->name, *(const uint64_t *)at);
        break;
    case VIEW_FLAG:
        put(p, f->name, json_boolean(*(const bool *)at));
        break;
    case VIEW_DELAYS:
        put(p, f->name, delays(p, at));
        break;
    case VIEW_TEXTS:
        put(p, f->name, texts(p, at));
        break;
    case VIEW_RANKS:
        put(p, f->name, ranks(p, at));
        break;
    case VIEW_TERMS:
        put_terms(p, at);
        break;
    case VIEW_COUNTS:
        for (unsigned i = 0; i < counts->n; i++)
            put_counter(p, counts->of[i].name, counts->of[i].n);
        break;
    case VIEW_TABLE:
        put(p, f->name, json_incref(p->out->rows));
        break;
    }
}

bool view_has(const struct view_field *field, const void *from)
{
    return field->when == 0 || *((const bool *)from + field->when);
}

static void put_fields(const struct sink *p, const struct view_field *f, const char *from)
{
    for (; f->name != NULL; f++)
        if (view_has(f, from))
            put_field(p, f, from + f->at);
}

static const char *table_of(const struct view *view)
{
    const struct view_field *f = view->fields;

    while (f->type != VIEW_TABLE)
        f++;
    return f->name;
}

void view_begin(struct view_out *out, const struct view *view)
{
    *out = (struct view_out){
        .view = view, .object = json_object(), .rows = json_array(), .counters = json_object()};
}

void view_visit(struct view_out *out, const struct view *view, view_visitor *visit, void *context)
{
    *out = (struct view_out){.view = view, .visit = visit, .context = context};
}

void view_row(struct view_out *out, const void *row)
{
    if (out->visit != NULL) {
        out->visit(out->context, out->view->row, row);
        return;
    }
    const struct sink sink = {out, json_object(), table_of(out->view)};

    put_fields(&sink, out->view->row, row);
    append(&sink, out->rows, sink.object);
}

void view_fields(struct view_out *out, const void *fields)
{
    if (out->visit != NULL) {
        out->visit(out->context, out->view->fields, fields);
        return;
    }
    const struct sink sink = {out, out->object, NULL};

    put_fields(&sink, out->view->fields, fields);
}

int view_end(struct view_out *out, json_t **view, json_t **counters)
{
    const struct sink sink = {.out = out};
    json_t *paths = json_array(), *unused;
    const char *path;

    if (out->view->fields[0].type == VIEW_TABLE) /* and that is all */
        view_fields(out, "");
    json_object_foreach (out->counters, path, unused)
        append(&sink, paths, json_string(path));
    json_decref(out->counters);
    json_decref(out->rows);
    *view = out->object;
    *counters = paths;
    if (!out->failed && *view != NULL && paths != NULL)
        return 0;
    json_decref(*view);
    json_decref(paths);
    return -ENOMEM;
}

const struct view_field *view_field(const struct view_field *f, const char *key)
{
    while (f->name != NULL && (f->type == VIEW_COUNTS || f->type == VIEW_TERMS || strcmp(f->name, key) != 0))
        f++;
    return f->name == NULL ? NULL : f;
}

/* n in decimal; returns its end. A table has an address in each row, so that this is done without a format.
 */
static char *write_number(char *to, unsigned n)
{
    if (n >= 10)
        to = write_number(to, n / 10);
    *to = (char)('0' + n % 10);
    return to + 1;
}

static char *write_ip(char *to, uint32_t ip)
{
    const uint8_t *b = (const uint8_t *)&ip;

    for (unsigned i = 0; i < 4; i++) {
        to = write_number(to, b[i]);
        *to++ = i < 3 ? '.' : '\0';
    }
    return to - 1;
}

const char *view_ip(char text[VIEW_IP_MAX], uint32_t ip)
{
    write_ip(text, ip);
    return text;
}

const char *view_address(char text[VIEW_ADDRESS_MAX], uint32_t ip, unsigned port, unsigned threads)
{
    char *end = write_ip(text, ip);

    *end++ = ':';
    end = write_number(end, port);
    if (threads > 1) {
        *end++ = '-';
        end = write_number(end, port + threads - 1);
    }
    *end = '\0';
    return text;
}
