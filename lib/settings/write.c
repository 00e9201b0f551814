#include "settings/write.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "settings/changes.h"

enum { INDENT = 2 };

struct writer {
    FILE *to;
    const void *configuration;
    bool failed; /* for want of memory */
};

/* Fields of a group or an item, and the same of one of which nothing is said. */
struct fields {
    const struct setting *table;
    const char *at, *unsaid;
};

/* --- what is set --------------------------------------------------------------------------------------- */

static bool is_text(const struct setting *s)
{
    return s->type == SETTING_TEXT || s->type == SETTING_NAME;
}

/* A number that is not one of its own: none was given. */
static bool is_out_of_bounds(const struct setting *s, const void *at)
{
    uint64_t number = 0;

    if (s->type != SETTING_NUMBER || s->show != NULL)
        return false;
    memcpy(&number, at, s->bytes);
    return number < s->least || number > s->most;
}

static bool is_none(const struct writer *w, const struct setting *s, const void *at)
{
    char text[SETTING_SHOWN_MAX];

    if (is_text(s))
        return *(const char *)at == '\0';
    setting_show(text, s, w->configuration, at);
    return is_out_of_bounds(s, at) || strcmp(text, "-") == 0;
}

static bool differs(const struct writer *w, const struct setting *s, const void *at, const void *unsaid)
{
    char text[SETTING_SHOWN_MAX], other[SETTING_SHOWN_MAX];

    if (is_text(s))
        return strcmp(at, unsaid) != 0;
    setting_show(text, s, w->configuration, at);
    setting_show(other, s, w->configuration, unsaid);
    return strcmp(text, other) != 0;
}

/* Whether this key is followed by more that is the same: of what is not said it is something else. */
static bool is_said_by_more(const struct setting *s, const char *base)
{
    const struct setting *more = s + 1;

    return more->key != NULL && more->type == SETTING_MORE && strcmp(more->key, s->key) == 0 &&
           memcmp(base + s->offset, base + more->offset, s->bytes) == 0;
}

/* Whether a default depends on more than the table says. */
static bool is_derived(const struct setting *s)
{
    return s->type == SETTING_LATER ||
           (s->usual != NULL && (s->type == SETTING_NUMBER || s->type == SETTING_BOOL));
}

static unsigned count_of(const struct writer *w, const struct setting *list, const char *base);

static bool any_is_set(const struct writer *w, const struct fields *f);

/* Whether something is to be said. */
static bool is_set(const struct writer *w, const struct setting *s, const struct fields *in)
{
    const char *at = in->at + s->offset, *unsaid = in->unsaid + s->offset;

    if (s->type == SETTING_MORE)
        return false;
    if (s->type == SETTING_LIST)
        return count_of(w, s, in->at) > 0;
    if (s->type == SETTING_GROUP)
        return any_is_set(w, &(struct fields){s->fields, at, unsaid});
    return !is_none(w, s, at) && (is_derived(s) || is_said_by_more(s, in->at) || differs(w, s, at, unsaid));
}

static bool any_is_set(const struct writer *w, const struct fields *f)
{
    for (const struct setting *s = f->table; s->key != NULL; s++)
        if (is_set(w, s, f))
            return true;
    return false;
}

/* --- items of lists ------------------------------------------------------------------------------------ */

static const char *item_of(const struct setting *list, const char *base, unsigned i)
{
    return base + list->offset + i * list->stride;
}

/* One that lacks what it must have is none. */
static bool is_item(const struct writer *w, const struct setting *list, const char *item)
{
    for (const struct setting *s = list->fields; s != NULL && s->key != NULL; s++)
        if ((s->required || (list->named && s == list->fields)) && s->type != SETTING_LIST &&
            s->type != SETTING_GROUP && is_none(w, s, item + s->offset))
            return false;
    return true;
}

/* How many places there are in it. */
static unsigned places_of(const struct writer *w, const struct setting *list, const char *base)
{
    char text[SETTING_SHOWN_MAX];
    unsigned n = 0;

    if (list->counted)
        memcpy(&n, base + list->count_at, sizeof(n));
    while (list->show_item != NULL && list->show_item(text, w->configuration, base + list->offset, n))
        n++;
    return n;
}

static unsigned count_of(const struct writer *w, const struct setting *list, const char *base)
{
    unsigned n = 0;

    for (unsigned i = 0; i < places_of(w, list, base); i++)
        n += list->item != NULL || is_item(w, list, item_of(list, base, i));
    return n;
}

/* --- writing ------------------------------------------------------------------------------------------- */

static void begin_line(const struct writer *w, unsigned depth, bool said)
{
    fprintf(w->to, "%*s%s", (int)(depth * INDENT), "", said ? "" : "# ");
}

static void put_quoted(const struct writer *w, const char *text)
{
    fputc('"', w->to);
    for (; *text != '\0'; text++) {
        if (*text == '"' || *text == '\\')
            fputc('\\', w->to);
        if ((unsigned char)*text < ' ')
            fprintf(w->to, "\\x%02x", *text);
        else
            fputc(*text, w->to);
    }
    fputc('"', w->to);
}

static void put_value(const struct writer *w, const struct setting *s, const void *at)
{
    char text[SETTING_SHOWN_MAX];

    setting_show(text, s, w->configuration, at);
    if (is_text(s))
        put_quoted(w, at);
    else if (s->type == SETTING_PARSED || s->type == SETTING_LATER)
        put_quoted(w, text);
    else
        fputs(text, w->to);
}

static void write_fields(struct writer *w, const struct fields *f, unsigned depth, bool said);

/* Of single values: on one line. */
static void write_values(const struct writer *w, const struct setting *list, const char *base)
{
    char text[SETTING_SHOWN_MAX];

    fputs(" [", w->to);
    for (unsigned i = 0; i < places_of(w, list, base); i++) {
        fputs(i == 0 ? "" : ", ", w->to);
        if (list->show_item == NULL)
            put_value(w, list->item, item_of(list, base, i) + list->item->offset);
        else if (list->show_item(text, w->configuration, base + list->offset, i))
            put_quoted(w, text);
    }
    fputs("]\n", w->to);
}

/* Of groups: a dash on a line of its own, so that what comes first may be a comment. */
static void write_items(struct writer *w, const struct setting *list, const char *base, unsigned depth)
{
    char *unsaid = calloc(1, list->stride);
    struct settings unused = {0};

    if (unsaid == NULL) {
        w->failed = true;
        return;
    }
    settings_default(&unused, list->fields, unsaid);
    fputc('\n', w->to);
    for (unsigned i = 0; i < places_of(w, list, base); i++) {
        const struct fields item = {list->fields, item_of(list, base, i), unsaid};

        if (!is_item(w, list, item.at))
            continue;
        begin_line(w, depth, true);
        fputs(any_is_set(w, &item) ? "-\n" : "- {}\n", w->to);
        write_fields(w, &item, depth + 1, true);
    }
    free(unsaid);
}

static void write_field(struct writer *w, const struct setting *s, const struct fields *in, unsigned depth,
                        bool in_said)
{
    const char *at = in->at + s->offset;
    const bool set = is_set(w, s, in);
    const bool said =
        in_said &&
        (set || (s->required && s->type != SETTING_LIST && s->fields == NULL && !is_none(w, s, at)));

    begin_line(w, depth, said);
    fprintf(w->to, "%s:", s->key);
    if (s->type == SETTING_GROUP) {
        fputc('\n', w->to);
        write_fields(w, &(struct fields){s->fields, at, in->unsaid + s->offset}, depth + 1, said);
    } else if (s->type == SETTING_LIST && set && s->item != NULL) {
        write_values(w, s, in->at);
    } else if (s->type == SETTING_LIST && set) {
        write_items(w, s, in->at, depth + 1);
    } else if (s->type == SETTING_LIST || is_none(w, s, at)) {
        fputs(" (not set)\n", w->to);
    } else {
        fputc(' ', w->to);
        put_value(w, s, at);
        fputc('\n', w->to);
    }
}

static void write_fields(struct writer *w, const struct fields *f, unsigned depth, bool said)
{
    for (const struct setting *s = f->table; s->key != NULL; s++)
        if (s->type != SETTING_MORE)
            write_field(w, s, f, depth, said);
}

int settings_write(FILE *to, const struct setting *table, const void *configuration, size_t bytes)
{
    struct writer w = {.to = to, .configuration = configuration};
    struct settings unused = {0};
    char *unsaid = calloc(1, bytes);

    if (unsaid == NULL)
        return -ENOMEM;
    settings_default(&unused, table, unsaid);
    write_fields(&w, &(struct fields){table, configuration, unsaid}, 0, true);
    free(unsaid);
    return w.failed ? -ENOMEM : 0;
}
