#include "settings/page.h"

#include <inttypes.h>
#include <string.h>

#include "settings/changes.h"

enum { CELL_MAX = 256 };

static bool is_power_of_two(uint64_t number)
{
    return number != 0 && (number & (number - 1)) == 0;
}

/* Large powers of two as such: 2^22, 2^64-1. */
static void number_words(char cell[CELL_MAX], uint64_t number)
{
    if (number > UINT16_MAX + 1 && is_power_of_two(number))
        snprintf(cell, CELL_MAX, "2^%d", __builtin_ctzll(number));
    else if (number >= UINT32_MAX && (number & (number + 1)) == 0)
        snprintf(cell, CELL_MAX, "2^%d-1", __builtin_popcountll(number));
    else
        snprintf(cell, CELL_MAX, "%" PRIu64, number);
}

static void all_words(char cell[CELL_MAX], const struct setting_word *words)
{
    cell[0] = '\0';
    for (; words->word != NULL; words++) {
        const size_t used = strlen(cell);

        snprintf(cell + used, CELL_MAX - used, "%s`%s`", used > 0 ? ", " : "", words->word);
    }
}

/* What may stand behind the key. */
static void kind_words(char cell[CELL_MAX], const struct setting *s)
{
    char least[CELL_MAX], most[CELL_MAX];

    number_words(least, s->least);
    number_words(most, s->most);
    switch (s->type) {
    case SETTING_NUMBER:
        snprintf(cell, CELL_MAX, "%.40s..%.40s%s%s%s", least, most, s->unit != NULL ? " " : "",
                 s->unit != NULL ? s->unit : "", s->power_of_two ? ", a power of two" : "");
        break;
    case SETTING_SHARE:
        snprintf(cell, CELL_MAX, "0..1");
        break;
    case SETTING_BOOL:
        snprintf(cell, CELL_MAX, "`true`, `false`");
        break;
    case SETTING_WORD:
        all_words(cell, s->words);
        break;
    case SETTING_GROUP:
        snprintf(cell, CELL_MAX, "group");
        break;
    default:
        snprintf(cell, CELL_MAX, "%s, to %" PRIu64 " characters%s", s->kind != NULL ? s->kind : "text",
                 s->most, s->type == SETTING_NAME ? " without spaces" : "");
        break;
    }
    if (s->kind != NULL && s->type != SETTING_LIST && s->type != SETTING_TEXT && s->type != SETTING_NAME)
        snprintf(cell, CELL_MAX, "%s", s->kind);
}

static void list_words(char cell[CELL_MAX], const struct setting *list)
{
    char of[CELL_MAX] = "";

    if (list->item != NULL)
        kind_words(of, list->item);
    if (list->kind != NULL)
        snprintf(of, sizeof(of), "%s", list->kind);
    if (list->least == 0)
        snprintf(cell, CELL_MAX, "list%s%.200s, up to %" PRIu64, of[0] != '\0' ? " of " : "", of, list->most);
    else
        snprintf(cell, CELL_MAX, "list%s%.200s, %" PRIu64 " to %" PRIu64, of[0] != '\0' ? " of " : "", of,
                 list->least, list->most);
}

static void usual_words(char cell[CELL_MAX], const struct setting *s)
{
    const struct setting_word *w = s->words;

    snprintf(cell, CELL_MAX, "none");
    if (s->required)
        snprintf(cell, CELL_MAX, "required");
    else if (s->usual != NULL)
        snprintf(cell, CELL_MAX, "%s", s->usual);
    else if (s->initial != NULL)
        snprintf(cell, CELL_MAX, "%s", s->initial);
    else if (s->type == SETTING_NUMBER)
        number_words(cell, s->fallback);
    else if (s->type == SETTING_SHARE)
        snprintf(cell, CELL_MAX, "0");
    else if (s->type == SETTING_BOOL)
        snprintf(cell, CELL_MAX, "%s", s->fallback != 0 ? "`true`" : "`false`");
    else if (s->type == SETTING_WORD) {
        while (w->value != s->fallback)
            w++;
        snprintf(cell, CELL_MAX, "`%s`", w->word);
    }
}

/* around: when changes of the group or list that it is in count. */
static void print_row(FILE *page, const char *prefix, const struct setting *s, enum setting_when around)
{
    static const char *const when[SETTING_WHENS] = {[SETTING_AT_ONCE] = "at once",
                                                    [SETTING_NEW_JOBS] = "new jobs",
                                                    [SETTING_WHEN_QUIET] = "quiet job",
                                                    [SETTING_RESTART] = "restart"};
    char kind[CELL_MAX], usual[CELL_MAX];

    if (s->type == SETTING_LIST)
        list_words(kind, s);
    else
        kind_words(kind, s);
    usual_words(usual, s);
    fprintf(page, "| `%s%s` | %s | %s | %s | %s |\n", prefix, s->key, kind, usual,
            when[setting_later(s->when, around)], s->meaning);
}

/* A row for each field; those of groups and lists without a title or a kind follow them. */
static void print_rows(FILE *page, const char *prefix, const struct setting *fields, enum setting_when around)
{
    for (const struct setting *f = fields; f->key != NULL; f++) {
        char inner[CELL_MAX];

        if (f->meaning != NULL)
            print_row(page, prefix, f, around);
        snprintf(inner, sizeof(inner), "%.60s%.60s.", prefix, f->key);
        if (f->fields != NULL && f->title == NULL && f->kind == NULL)
            print_rows(page, inner, f->fields, setting_later(f->when, around));
    }
}

void settings_print(FILE *page, const char *title, const struct setting *table, enum setting_when when)
{
    fprintf(page, "### %s\n\n| key | value | default | a change counts | |\n|---|---|---|---|---|\n", title);
    print_rows(page, "", table, when);
    fprintf(page, "\n");
    for (const struct setting *f = table; f->key != NULL; f++)
        if (f->title != NULL)
            settings_print(page, f->title, f->fields, setting_later(f->when, when));
}
