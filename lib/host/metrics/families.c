#include "metrics/families.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/delays.h"
#include "protocol/ranks.h"

enum {
    NAME_MAX_BYTES = 96,
    LABELS_BYTES = 1024,
    FIRST_BYTES = 512,
    DIGITS_MAX = 20, /* of a uint64_t */
    /* A histogram has every other bucket of AGG_DELAY_BUCKETS: each reaches four times as far as the one
     * before. The last one has no end. */
    ENDS = AGG_DELAY_BUCKETS / 2 - 1,
    END_BYTES = 16,
};

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
    char end_of[ENDS][END_BYTES]; /* of a histogram's buckets, s */
    bool failed;                  /* for want of memory */
};

struct families *families_new(void)
{
    struct families *f = calloc(1, sizeof(*f));

    if (f == NULL)
        return NULL;
    f->end = &f->first;
    for (unsigned i = 0; i < ENDS; i++)
        snprintf(f->end_of[i], END_BYTES, "%.9g", (double)agg_delay_bucket_from(2 * i + 2) / 1e9);
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

/* A scrape has some hundred thousand numbers, so that their parts are put together without formats. */
static void put_bytes(struct families *f, struct family *to, const char *text, size_t bytes)
{
    if (!make_room(f, to, bytes + 1))
        return;
    memcpy(to->text + to->used, text, bytes);
    to->used += bytes;
    to->text[to->used] = '\0';
}

static void put(struct families *f, struct family *to, const char *text)
{
    put_bytes(f, to, text, strlen(text));
}

/* n, of which so many digits are behind the point; without zeros at their end. The line ends behind it. */
static void put_number(struct families *f, struct family *to, uint64_t n, unsigned behind)
{
    char text[DIGITS_MAX + 3], *at = text + sizeof(text);

    *--at = '\n';
    for (; behind > 0 && n % 10 == 0; behind--)
        n /= 10;
    if (behind > 0) {
        for (; behind > 0; behind--, n /= 10)
            *--at = (char)('0' + n % 10);
        *--at = '.';
    }
    do
        *--at = (char)('0' + n % 10);
    while ((n /= 10) != 0);
    put_bytes(f, to, at, (size_t)(text + sizeof(text) - at));
}

/* --- names --- */

/* In what a field's number is told: base units, as Prometheus's users expect. */
struct scale {
    const char *unit;    /* of the field */
    const char *word;    /* in its name */
    const char *instead; /* at the name's end */
    unsigned behind;     /* the point: digits */
};

static const struct scale scales[] = {
    {"s", "s", "seconds", 0},
    {"ms", "ms", "seconds", 3},
    {"us", "us", "seconds", 6},
    {"percent", "percent", "ratio", 2},
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

/* A name with these labels, without their end, or "{" if there are none. */
static void begin_sample(struct families *f, struct family *to, const char *end, const char *labels)
{
    put(f, to, to->name);
    put(f, to, end);
    if (labels[1] != '\0')
        put(f, to, labels);
}

static void end_sample(struct families *f, struct family *to, const char *labels, uint64_t n, unsigned behind)
{
    put(f, to, labels[1] == '\0' ? " " : "} ");
    put_number(f, to, n, behind);
}

static void add_number(struct families *f, const struct view_field *field, const char *labels, uint64_t n)
{
    const struct scale *scale = scale_of(field);
    struct family *to = family_of(f, field);

    if (to == NULL)
        return;
    begin_sample(f, to, only_grows(field) ? "_total" : "", labels);
    end_sample(f, to, labels, n, scale == NULL ? 0 : scale->behind);
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

static void add_bucket(struct families *f, struct family *to, const char *labels, const char *end, uint64_t n)
{
    put(f, to, to->name);
    put(f, to, "_bucket");
    put(f, to, labels);
    put(f, to, labels[1] == '\0' ? "le=\"" : ",le=\"");
    put(f, to, end);
    put(f, to, "\"} ");
    put_number(f, to, n, 0);
}

static void add_delays(struct families *f, const struct view_field *field, const char *labels,
                       const struct view_delays *delays)
{
    struct family *to = family_of(f, field);
    uint64_t n = 0;

    if (to == NULL)
        return;
    for (unsigned i = 0; i < AGG_DELAY_BUCKETS; i++) {
        n += i < delays->n ? delays->of[i] : 0;
        if (i % 2 == 1 && i / 2 < ENDS)
            add_bucket(f, to, labels, f->end_of[i / 2], n);
    }
    add_bucket(f, to, labels, "+Inf", n);
    begin_sample(f, to, "_sum", labels);
    end_sample(f, to, labels, delays->sum_ns, 9);
    begin_sample(f, to, "_count", labels);
    end_sample(f, to, labels, n, 0);
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
        put_bytes(&whole, &text, one->text, one->used);
    }
    if (open)
        add(&whole, &text, "# EOF\n");
    *bytes = text.used;
    if (!whole.failed && text.text != NULL)
        return text.text;
    free(text.text);
    return NULL;
}
