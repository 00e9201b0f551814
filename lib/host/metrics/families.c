#include "metrics/families.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/delays.h"
#include "protocol/ranks.h"

enum { NAME_MAX_BYTES = 96, LABELS_BYTES = 1024, FIRST_BYTES = 512 };

/* The samples of one field so far. */
struct family {
    const struct view *view;
    const struct view_field *field;
    char name[NAME_MAX_BYTES]; /* without the end that tells the type */
    char *text;
    size_t used, room;
    struct family *next; /* in the order in which they began */
};

struct families {
    struct family *first, **end;
    struct family *recent; /* fields come in order, so that the next one is near */
    const struct view *view;
    const char *const *outer;
    bool failed; /* for want of memory */
};

struct families *families_new(void)
{
    struct families *f = calloc(1, sizeof(*f));

    if (f != NULL)
        f->end = &f->first;
    return f;
}

void families_free(struct families *f)
{
    struct family *next;

    for (struct family *one = f == NULL ? NULL : f->first; one != NULL; one = next) {
        next = one->next;
        free(one->text);
        free(one);
    }
    free(f);
}

/* --- text that grows --- */

static bool make_room(struct families *f, struct family *to, size_t bytes)
{
    const size_t room = to->room < FIRST_BYTES ? FIRST_BYTES : 2 * to->room;
    char *longer;

    if (to->used + bytes <= to->room)
        return true;
    longer = realloc(to->text, room < to->used + bytes ? to->used + bytes : room);
    if (longer == NULL) {
        f->failed = true;
        return false;
    }
    to->text = longer;
    to->room = room < to->used + bytes ? to->used + bytes : room;
    return true;
}

__attribute__((format(printf, 3, 4))) static void add(struct families *f, struct family *to,
                                                      const char *format, ...)
{
    va_list args;
    size_t room = to->room - to->used;
    int n;

    va_start(args, format);
    n = vsnprintf(room == 0 ? NULL : to->text + to->used, room, format, args);
    va_end(args);
    if (n < 0 || (size_t)n >= room) {
        if (n < 0 || !make_room(f, to, (size_t)n + 1))
            return;
        va_start(args, format);
        vsnprintf(to->text + to->used, (size_t)n + 1, format, args);
        va_end(args);
    }
    to->used += (size_t)n;
}

/* --- names --- */

/* In what a field's number is told: base units, as Prometheus's users expect. */
struct scale {
    const char *unit;    /* of the field */
    const char *word;    /* in its name */
    const char *instead; /* at the name's end */
    double factor;
};

static const struct scale scales[] = {
    {"s", "s", "seconds", 1},
    {"ms", "ms", "seconds", 1e-3},
    {"us", "us", "seconds", 1e-6},
    {"percent", "percent", "ratio", 1e-2},
};

static const struct scale *scale_of(const struct view_field *field)
{
    const char *unit = field->type == VIEW_DELAYS ? "us" : field->unit;

    for (size_t i = 0; unit != NULL && i < sizeof(scales) / sizeof(scales[0]); i++)
        if (strcmp(scales[i].unit, unit) == 0)
            return &scales[i];
    return NULL;
}

/* The field's name without this word of it, and what says that it is a histogram; with the unit's name at the
 * end. */
static size_t write_in_units(char *name, size_t room, const char *field, const struct scale *scale)
{
    size_t used = 0;

    for (const char *word = field; *word != '\0'; word += strcspn(word, "_"), word += *word == '_') {
        const size_t n = strcspn(word, "_");

        if ((n == strlen(scale->word) && memcmp(word, scale->word, n) == 0) ||
            (n == 4 && memcmp(word, "log2", n) == 0))
            continue;
        used += (size_t)snprintf(name + used, room - used, "%.*s_", (int)n, word);
    }
    return used + (size_t)snprintf(name + used, room - used, "%s", scale->instead);
}

static void name_family(struct family *one)
{
    char *name = one->name;
    const struct scale *scale = scale_of(one->field);
    size_t used = (size_t)snprintf(name, NAME_MAX_BYTES, "swagg_%s_", one->view->metric);

    if (one->field->type == VIEW_COUNTS && one->field->unit == NULL)
        snprintf(name + used, NAME_MAX_BYTES - used, "events");
    else if (one->field->type == VIEW_COUNTS)
        snprintf(name + used, NAME_MAX_BYTES - used, "%s", one->field->unit);
    else if (scale != NULL)
        write_in_units(name + used, NAME_MAX_BYTES - used, one->field->name, scale);
    else
        snprintf(name + used, NAME_MAX_BYTES - used, "%s", one->field->name);
}

static bool only_grows(const struct view_field *field)
{
    return field->type == VIEW_COUNTER || field->type == VIEW_COUNTS;
}

/* --- labels --- */

/* A value between quotes. */
static size_t write_value(char *to, size_t room, const char *value)
{
    size_t used = 0;

    for (; *value != '\0' && used + 3 < room; value++) {
        if (*value == '"' || *value == '\\')
            to[used++] = '\\';
        if (*value == '\n')
            to[used++] = '\\';
        to[used++] = *value == '\n' ? 'n' : *value;
    }
    to[used] = '\0';
    return used;
}

static size_t write_label(char *to, size_t room, const char *label, const char *value)
{
    size_t used = (size_t)snprintf(to, room, "%s%s=\"", to[-1] == '{' ? "" : ",", label);

    used += write_value(to + used, room - used - 2, value);
    return used + (size_t)snprintf(to + used, room - used, "\"");
}

/* What of a field says which row it is. */
static const char *text_of(char number[24], const struct view_field *field, const void *at)
{
    if (field->type == VIEW_TEXT)
        return *(const char *const *)at == NULL ? "" : *(const char *const *)at;
    if (field->type == VIEW_CHARS)
        return at;
    snprintf(number, 24, "%" PRIu64, *(const uint64_t *)at);
    return number;
}

/* "{job="train"": those of outer, then what fields have of the row's own, without the end. fields NULL:
 * none. */
static void write_labels(char labels[LABELS_BYTES], const struct families *f, const struct view_field *fields,
                         const void *from)
{
    char number[24];
    size_t used = 1;

    strcpy(labels, "{");
    for (const char *const *pair = f->outer; pair != NULL && pair[0] != NULL; pair += 2)
        used += write_label(labels + used, LABELS_BYTES / 4, pair[0], pair[1]);
    for (unsigned i = 0; fields != NULL && i < VIEW_LABELS_MAX && f->view->label[i] != NULL; i++)
        used += write_label(labels + used, LABELS_BYTES / 4, f->view->label[i],
                            text_of(number, &fields[i], (const char *)from + fields[i].at));
}

/* What others count, and who scrapes can tell better. */
static bool is_rate(const struct view_field *field)
{
    const size_t n = field->unit == NULL ? 0 : strlen(field->unit);

    return n > 2 && strcmp(field->unit + n - 2, "/s") == 0;
}

/* --- samples --- */

static bool is_of(const struct family *one, const struct families *f, const struct view_field *field)
{
    return one != NULL && one->view == f->view && one->field == field;
}

/* NULL: no memory. */
static struct family *family_of(struct families *f, const struct view_field *field)
{
    struct family *one = f->recent == NULL ? NULL : f->recent->next;

    if (!is_of(one, f, field))
        for (one = f->first; one != NULL && !is_of(one, f, field); one = one->next)
            ;
    if (one == NULL) {
        one = calloc(1, sizeof(*one));
        if (one == NULL) {
            f->failed = true;
            return NULL;
        }
        *one = (struct family){.view = f->view, .field = field};
        name_family(one);
        *f->end = one;
        f->end = &one->next;
    }
    f->recent = one;
    return one;
}

/* labels: without their end, or "{" if there are none. */
static void add_number(struct families *f, const struct view_field *field, const char *labels, uint64_t n)
{
    const struct scale *scale = scale_of(field);
    struct family *to = family_of(f, field);

    if (to == NULL)
        return;
    add(f, to, "%s%s%s%s", to->name, only_grows(field) ? "_total" : "", labels[1] == '\0' ? "" : labels,
        labels[1] == '\0' ? " " : "} ");
    if (scale != NULL && scale->factor != 1)
        add(f, to, "%.10g\n", (double)n * scale->factor);
    else
        add(f, to, "%" PRIu64 "\n", n);
}

static void add_counts(struct families *f, const struct view_field *field, const char *labels,
                       const struct view_counts *counts)
{
    char all[LABELS_BYTES];
    size_t used;

    for (unsigned i = 0; i < counts->n; i++) {
        used = (size_t)snprintf(all, sizeof(all), "%s", labels);
        write_label(all + used, sizeof(all) - used, f->view->counted, counts->of[i].name);
        add_number(f, field, all, counts->of[i].n);
    }
}

/* Every other bucket: each then reaches four times as far as the one before. */
static void add_delays(struct families *f, const struct view_field *field, const char *labels,
                       const struct view_delays *delays)
{
    struct family *to = family_of(f, field);
    const char *comma = labels[1] == '\0' ? "" : ",";
    uint64_t n = 0;

    if (to == NULL)
        return;
    for (unsigned i = 0; i < AGG_DELAY_BUCKETS; i++) {
        n += i < delays->n ? delays->of[i] : 0;
        if (i % 2 == 1 && i + 1 < AGG_DELAY_BUCKETS)
            add(f, to, "%s_bucket%s%sle=\"%.9g\"} %" PRIu64 "\n", to->name, labels, comma,
                (double)agg_delay_bucket_from(i + 1) / 1e9, n);
    }
    add(f, to, "%s_bucket%s%sle=\"+Inf\"} %" PRIu64 "\n", to->name, labels, comma, n);
    add(f, to, "%s_sum%s} %.10g\n%s_count%s} %" PRIu64 "\n", to->name, labels, (double)delays->sum_ns / 1e9,
        to->name, labels, n);
}

static uint64_t count_ranks(const struct view_ranks *ranks)
{
    return ranks_count(ranks->set, AGG_MAX_RANKS / 64);
}

static void add_sample(struct families *f, const struct view_field *field, const char *labels, const void *at)
{
    switch (field->type) {
    case VIEW_GAUGE:
    case VIEW_COUNTER:
        add_number(f, field, labels, *(const uint64_t *)at);
        break;
    case VIEW_FLAG:
        add_number(f, field, labels, *(const bool *)at);
        break;
    case VIEW_RANKS:
        add_number(f, field, labels, count_ranks(at));
        break;
    case VIEW_COUNTS:
        add_counts(f, field, labels, at);
        break;
    case VIEW_DELAYS:
        add_delays(f, field, labels, at);
        break;
    case VIEW_TEXT:
    case VIEW_CHARS:
    case VIEW_ID:
    case VIEW_TEXTS:
    case VIEW_TERMS:
    case VIEW_TABLE: /* say which it is, or are no numbers */
        break;
    }
}

static void add_samples(struct families *f, const struct view_field *fields, const void *from)
{
    char labels[LABELS_BYTES];

    write_labels(labels, f, f->view->row == NULL || fields == f->view->row ? fields : NULL, from);
    for (const struct view_field *field = fields; field->name != NULL; field++)
        if (view_has(field, from) && !is_rate(field))
            add_sample(f, field, labels, (const char *)from + field->at);
}

static void visit(void *context, const struct view_field *fields, const void *from)
{
    add_samples(context, fields, from);
}

void families_take(struct families *f, const struct view *view, const char *const *outer,
                   struct view_out *out)
{
    f->view = view;
    f->outer = outer;
    f->recent = NULL;
    view_visit(out, view, visit, f);
}

void families_row(struct families *f, const void *row)
{
    add_samples(f, f->view->row, row);
}

/* --- the whole --- */

static const char *type_of(const struct view_field *field)
{
    return only_grows(field) ? "counter" : field->type == VIEW_DELAYS ? "histogram" : "gauge";
}

char *families_text(const struct families *f, bool open, size_t *bytes)
{
    struct families whole = {0};
    struct family text = {0};

    *bytes = 0;
    if (f->failed)
        return NULL; /* a family may lack its text */
    for (const struct family *one = f->first; one != NULL; one = one->next) {
        const char *end = only_grows(one->field) && !open ? "_total" : "";

        add(&whole, &text, "# HELP %s%s %s: %s%s%s\n# TYPE %s%s %s\n", one->name, end, one->view->name,
            one->field->meaning, one->field->unit != NULL && scale_of(one->field) == NULL ? "; " : "",
            one->field->unit != NULL && scale_of(one->field) == NULL ? one->field->unit : "", one->name, end,
            type_of(one->field));
        if (make_room(&whole, &text, one->used + 1)) {
            memcpy(text.text + text.used, one->text, one->used + 1);
            text.used += one->used;
        }
    }
    if (open)
        add(&whole, &text, "# EOF\n");
    *bytes = text.used;
    if (!whole.failed && text.text != NULL)
        return text.text;
    free(text.text);
    return NULL;
}
