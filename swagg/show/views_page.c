#include "show/views_page.h"

#include <stdio.h>

#include "base/counters.h"
#include "protocols.h"
#include "views/declared.h"

static const char intro[] =
    "\n"
    "Every view of `swaggctl NAME` and its fields, as `swaggctl --json` and telemetry (`/swagg/NAME`) call "
    "them. `swagg --views`\n"
    "prints this page. Fields of a table are written TABLE/FIELD here. `swagg-ps` and `swagg-tofino` have "
    "those "
    "views and fields for\n"
    "which they have something to say; so have jobs of different kinds.\n";

static const char *const types[] = {
    [VIEW_TEXT] = "text",  [VIEW_CHARS] = "text",  [VIEW_GAUGE] = "gauge",    [VIEW_COUNTER] = "counter",
    [VIEW_ID] = "number",  [VIEW_DELAYS] = "list", [VIEW_FLAG] = "flag",      [VIEW_TEXTS] = "list",
    [VIEW_RANKS] = "list", [VIEW_TERMS] = "terms", [VIEW_COUNTS] = "counter", [VIEW_TABLE] = "table",
};

static void print_fields(const char *table, const struct view_field *f)
{
    for (; f->name != NULL; f++)
        if (f->type == VIEW_COUNTS || f->type == VIEW_TERMS)
            printf("| ... | %s | %s | %s |\n", types[f->type], f->unit == NULL ? "" : f->unit, f->meaning);
        else
            printf("| `%s%s%s` | %s | %s | %s |\n", table, table[0] == '\0' ? "" : "/", f->name,
                   types[f->type], f->unit == NULL ? "" : f->unit, f->meaning);
}

static void print_view(const struct view *view)
{
    static const char *const parameter[VIEW_SUBJECTS] = {"", " PORT", " LCORE", " JOB"};
    const char *table = NULL;

    printf("\n## `%s`\n\n`%s%s`: %s.\n\n| field | type | unit | meaning |\n|---|---|---|---|\n", view->name,
           view->name, parameter[view->of], view->help);
    print_fields("", view->fields);
    for (const struct view_field *f = view->fields; f->name != NULL; f++)
        table = f->type == VIEW_TABLE ? f->name : table;
    if (view->row != NULL)
        print_fields(table, view->row);
}

static void print_counts(const char *title)
{
    printf("\n## %s\n\n| counter | meaning |\n|---|---|\n", title);
}

static void print_count(const char *name, const char *meaning)
{
    if (name != NULL)
        printf("| `%s` | %s |\n", name, meaning);
}

static void print_verdicts(const struct agg_protocol *protocol)
{
    for (unsigned r = 0; protocol != NULL && r < protocol->reasons; r++)
        if (!protocol->reason[r].strange)
            print_count(protocol->reason[r].name, protocol->reason[r].meaning);
}

void views_page_print(void)
{
    fputs(intro, stdout);
    for (unsigned i = 0; i < VIEWS; i++)
        print_view(&views[i]);
    print_counts("Reasons to drop a frame");
    for (unsigned kind = 0; kind < DROP_KINDS; kind++)
        print_count(drop_name(kind), drop_meaning(kind));
    print_counts("What is done with other frames");
    for (enum event e = 0; e < EVENTS; e++)
        print_count(event_name(e), event_meaning(e));
    print_counts("What becomes of gradient packets");
    for (unsigned id = 0; id < COUNTED_PROTOCOLS; id++)
        print_verdicts(agg_protocol_find(id));
}
