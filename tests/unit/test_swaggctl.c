/* swaggctl's command lines and tables. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "print.h"
#include "unit.h"
#include "views/view.h"

static void expect_text(const char *view_text, const struct print_style *style, const char *expected)
{
    json_t *view = json_loads(view_text, 0, NULL);
    char *text = NULL;
    size_t bytes;
    FILE *to = open_memstream(&text, &bytes);

    CU_ASSERT_PTR_NOT_NULL_FATAL(view);
    print_view(to, view, style);
    fclose(to);
    if (strcmp(text, expected) != 0)
        printf("\ngot:\n%sexpected:\n%s", text, expected);
    CU_ASSERT_STRING_EQUAL(text, expected);
    free(text);
    json_decref(view);
}

static const struct print_style plain;

TEST(values_are_aligned)
{
    expect_text("{\"a\": 1, \"long_key\": \"text with spaces\", \"b\": true, \"c\": false, \"d\": \"\"}",
                &plain,
                "a         1\n"
                "long_key  text with spaces\n"
                "b         yes\n"
                "c         no\n"
                "d         -\n");
}

/* An event quotes what somebody else has typed. */
TEST(nothing_is_shown_that_a_terminal_would_obey)
{
    expect_text(
        "{\"a\": \"1\\u001b[2J2\\u007f\", \"b\": \"\\u009b2J\", \"c\": \"two\\nlines\", \"d\": [\"\\r\"], "
        "\"e\": \"\\u00e9\\u00a0\"}",
        &plain,
        "a  1?[2J2?\n"
        "b  ??2J\n"
        "c  two lines\n"
        "d  ?\n"
        "e  \xc3\xa9\xc2\xa0\n");
}

TEST(lists_are_joined)
{
    expect_text("{\"missing\": [0, 2, 11], \"none\": [], \"rx\": [\"p0\", \"p1\"]}", &plain,
                "missing  0,2,11\n"
                "none     -\n"
                "rx       p0,p1\n");
}

#define TABLE                                                                                                \
    "{\"ports\": [{\"name\": \"a\", \"frames\": 7, \"rx\": [\"x\", \"y\"]}, "                                \
    "{\"name\": \"long\", \"frames\": 1234567, \"rx\": []}]}"

TEST(tables_have_columns)
{
    expect_text(TABLE, &plain,
                "name   frames  rx\n"
                "a           7  x,y\n"
                "long  1234567  -\n");
}

TEST(bytes_and_times_have_units_that_are_read_easily)
{
    static const struct view_field fields[] = {
        {.name = "memory", .unit = "bytes"}, {.name = "up", .unit = "s"}, {NULL}};
    static const struct view_field row[] = {{.name = "sent", .unit = "bytes"},
                                            {.name = "late", .unit = "us"},
                                            {.name = "rate", .unit = "bytes/s"},
                                            {.name = "n", .unit = "frames"},
                                            {NULL}};
    static const struct view view = {.name = "v", .fields = fields, .row = row};
    const struct print_style style = {.view = &view};

    expect_text("{\"memory\": 999, \"up\": 200000, \"other\": 12345, \"t\": ["
                "{\"sent\": 1460, \"late\": 999, \"rate\": 12345678, \"n\": 1234567}, "
                "{\"sent\": 99960, \"late\": 61000000, \"rate\": 0, \"n\": 1}, "
                "{\"sent\": 1844674407370955161, \"late\": 1234, \"rate\": 9996000, \"n\": 0}]}",
                &style,
                "memory  999 B\n"
                "up      55.6 h\n"
                "other   12345\n"
                "\n"
                "   sent     late       rate        n\n"
                " 1460 B   999 us  12.3 MB/s  1234567\n"
                " 100 kB   61.0 s      0 B/s        1\n"
                "1845 PB  1234 us  9996 kB/s        0\n");
}

TEST(a_table_follows_the_values)
{
    expect_text("{\"name\": \"j\", \"ranks\": [{\"rank\": 0}], \"late\": 3}", &plain,
                "name  j\n"
                "late  3\n"
                "\n"
                "rank\n"
                "   0\n");
}

TEST(scripts_choose_columns)
{
    const struct print_style chosen = {.only = "frames,name"},
                             bare = {.only = "frames,name", .no_header = true}, one = {.only = "late"};

    expect_text(TABLE, &chosen,
                " frames  name\n"
                "      7  a\n"
                "1234567  long\n");
    expect_text(TABLE, &bare,
                "      7  a\n"
                "1234567  long\n");
    expect_text("{\"name\": \"j\", \"ranks\": [{\"rank\": 0}], \"late\": 3}", &one, "late  3\n");
}

TEST(an_empty_table_prints_nothing)
{
    expect_text("{\"jobs\": []}", &plain, "");
}

TEST(a_column_that_is_not_there_is_named)
{
    const struct print_style wrong = {.only = "name,fames"}, right = {.only = "name,frames"};
    json_t *view = json_loads(TABLE, 0, NULL), *empty = json_loads("{\"jobs\": []}", 0, NULL);
    char why[128] = "";

    CU_ASSERT(print_is_empty(empty) && !print_is_empty(view));
    CU_ASSERT(!print_lacks(view, &right, why, sizeof(why)));
    CU_ASSERT(!print_lacks(view, &plain, why, sizeof(why)));
    CU_ASSERT(!print_lacks(empty, &right, why, sizeof(why))); /* nobody can know */
    CU_ASSERT(print_lacks(view, &wrong, why, sizeof(why)));
    CU_ASSERT_STRING_EQUAL(why, "--only: there is no fames in this view; there are: name, frames, rx");
    json_decref(view);
    json_decref(empty);
}

static void expect_rates(const char *before_text, double seconds, bool beside, const char *expected)
{
    json_t *answer =
        json_loads("{\"counters\": [\"frames\", \"ports/rx\"], \"view\": {\"frames\": 30, \"up\": 4, "
                   "\"ports\": [{\"name\": \"a\", \"rx\": 7}, {\"name\": \"b\", \"rx\": 9}]}}",
                   0, NULL);
    json_t *before = before_text == NULL ? NULL : json_loads(before_text, 0, NULL);
    json_t *view = rates_view(answer, before, seconds, beside);
    char *text = json_dumps(view, JSON_COMPACT);

    CU_ASSERT_STRING_EQUAL(text, expected);
    free(text);
    json_decref(view);
    json_decref(before);
    json_decref(answer);
}

TEST(counters_become_rates)
{
    static const char before[] =
        "{\"view\": {\"frames\": 10, \"up\": 4, \"ports\": [{\"name\": \"b\", \"rx\": 4}, "
        "{\"name\": \"a\", \"rx\": 8}]}}";

    expect_rates(before, 2, false,
                 "{\"frames/s\":10.0,\"up\":4,\"ports\":[{\"name\":\"a\",\"rx/s\":0.0},{\"name\":\"b\",\"rx/"
                 "s\":2.5}]}");
    expect_rates(
        before, 2, true,
        "{\"frames\":30,\"frames/s\":10.0,\"up\":4,\"ports\":[{\"name\":\"a\",\"rx\":7,\"rx/s\":0.0},"
        "{\"name\":\"b\",\"rx\":9,\"rx/s\":2.5}]}");
    expect_rates(NULL, 2, false,
                 "{\"frames/s\":0.0,\"up\":4,\"ports\":[{\"name\":\"a\",\"rx/s\":0.0},{\"name\":\"b\",\"rx/"
                 "s\":0.0}]}");
}

/* What this command line asks the switch; "": it is refused. */
static void expect_request(unsigned n, char *const words[], const char *expected)
{
    char why[COMMAND_WHY_MAX] = "", *text;
    unsigned used = 0;
    const struct command *c = command_find(words, n, &used, why);
    json_t *request;

    if (c == NULL) {
        CU_ASSERT_STRING_EQUAL(expected, "");
        CU_ASSERT(why[0] != '\0');
        return;
    }
    request = command_request(c, words + used, n - used);
    text = json_dumps(request, JSON_COMPACT);
    CU_ASSERT_STRING_EQUAL(text, expected);
    free(text);
    json_decref(request);
}

#define EXPECT_REQUEST(expected, ...)                                                                        \
    do {                                                                                                     \
        char *const words[] = {__VA_ARGS__};                                                                 \
        expect_request(sizeof(words) / sizeof(words[0]), words, expected);                                   \
    } while (0)

TEST(command_lines_become_requests)
{
    EXPECT_REQUEST("{\"version\":1,\"command\":\"status\"}", "status");
    EXPECT_REQUEST("{\"version\":1,\"command\":\"drops\"}", "drops");
    EXPECT_REQUEST("{\"version\":1,\"command\":\"tenants\"}", "tenants");
    EXPECT_REQUEST("{\"version\":1,\"command\":\"drops\",\"name\":\"p0\"}", "drops", "p0");
    EXPECT_REQUEST("{\"version\":1,\"command\":\"job\",\"name\":\"a \\\"b\\\"\"}", "job", "a \"b\"");
    EXPECT_REQUEST("{\"version\":1,\"command\":\"job kill\",\"name\":\"j\"}", "job", "kill", "j");
    EXPECT_REQUEST("{\"version\":1,\"command\":\"job\",\"name\":\"kill\"}", "job", "kill");
    EXPECT_REQUEST("{\"version\":1,\"command\":\"log level\",\"level\":\"info\"}", "log", "level", "info");
    EXPECT_REQUEST("{\"version\":1,\"command\":\"fdb flush\"}", "fdb", "flush");
    EXPECT_REQUEST("{\"version\":1,\"command\":\"impair set\",\"name\":\"h0\",\"direction\":\"rx\","
                   "\"settings\":{\"drop\":0.5,\"reorder_by\":7.0,\"x\":\"y\"}}",
                   "impair", "set", "h0", "rx", "drop=0.5", "reorder_by=7", "x=y");
    EXPECT_REQUEST("{\"version\":1,\"command\":\"port add\",\"port\":\"h2\",\"device\":\"kernel:p2\","
                   "\"settings\":{\"vlan\":\"nan\",\"rx_queues\":\"1e999\"}}",
                   "port", "add", "h2", "kernel:p2", "vlan=nan", "rx_queues=1e999");
    EXPECT_REQUEST("{\"version\":1,\"command\":\"job add\",\"job\":\"j\","
                   "\"settings\":{\"slots\":8.0,\"workers\":[{\"ip\":\"10.0.0.1\"}],\"x\":\"[\"}}",
                   "job", "add", "j", "slots=8", "workers=[{\"ip\": \"10.0.0.1\"}]", "x=[");
    EXPECT_REQUEST("{\"version\":1,\"command\":\"impair clear\",\"name\":\"h0\"}", "impair", "clear", "h0");
    EXPECT_REQUEST("", "impair", "set", "h0", "rx");
    EXPECT_REQUEST("", "job");
    EXPECT_REQUEST("", "status", "now");
    EXPECT_REQUEST("", "drops", "p0", "p1");
    EXPECT_REQUEST("", "stat");
}

static void expect_refusal(unsigned n, char *const words[], const char *expected)
{
    char why[COMMAND_WHY_MAX] = "";
    unsigned used;

    CU_ASSERT_PTR_NULL(command_find(words, n, &used, why));
    CU_ASSERT_STRING_EQUAL(why, expected);
}

#define EXPECT_REFUSAL(expected, ...)                                                                        \
    do {                                                                                                     \
        char *const words[] = {__VA_ARGS__};                                                                 \
        expect_refusal(sizeof(words) / sizeof(words[0]), words, expected);                                   \
    } while (0)

TEST(a_wrong_command_line_is_told_what_was_meant)
{
    EXPECT_REFUSAL("there is no command jobss; did you mean jobs?", "jobss");
    EXPECT_REFUSAL("there is no command verdict; did you mean verdicts?", "verdict");
    EXPECT_REFUSAL("there is no command captur; did you mean capture?", "captur");
    EXPECT_REFUSAL("there is no command prot add; did you mean port add?", "prot", "add", "p9", "kernel:p9");
    EXPECT_REFUSAL("there is no command job drian; did you mean job drain?", "job", "drian", "j");
    EXPECT_REFUSAL("there is no command rank; did you mean ranks?", "rank", "j");
    EXPECT_REFUSAL("watch shows views, and why is none: swaggctl why", "why", "j");
    EXPECT_REFUSAL("there is no command frobnicate; --help lists them", "frobnicate");
    EXPECT_REFUSAL("there is no command frobnicate; --help lists them", "frobnicate", "it");
    EXPECT_REFUSAL("usage: swaggctl job JOB", "job");
    EXPECT_REFUSAL("usage: swaggctl job kill JOB", "job", "kill", "j", "k");
    EXPECT_REFUSAL("usage: swaggctl impair set PORT rx|tx KEY=VALUE...", "impair", "set", "h0");
    EXPECT_REFUSAL("usage: swaggctl jobs", "jobs", "extra");
}

TEST(counters_that_are_0_are_spared)
{
    json_t *counters = json_pack("[s, s, s, s]", "runt", "oversize", "ports/rx_errors", "ports/tx_errors");
    const struct print_style style = {.spared = counters};

    expect_text("{\"runt\": 0, \"oversize\": 3, \"level\": 0}", &style,
                "oversize  3\n"
                "level     0\n"
                "\ncounters that are 0, left out: 1 (--all shows them)\n");
    expect_text("{\"runt\": 0}", &style, "counters that are 0, left out: 1 (--all shows them)\n");
    expect_text("{\"oversize\": 3}", &style, "oversize  3\n");
    expect_text("{\"ports\": [{\"name\": \"a\", \"rx_errors\": 0, \"tx_errors\": 0, \"queues\": 0}, "
                "{\"name\": \"b\", \"rx_errors\": 2, \"tx_errors\": 0, \"queues\": 0}]}",
                &style,
                "name  rx_errors  queues\n"
                "a             0       0\n"
                "b             2       0\n"
                "\ncounters that are 0, left out: 1 (--all shows them)\n");
    json_decref(counters);
}
