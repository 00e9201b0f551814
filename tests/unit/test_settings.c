/* What is derived from a table of settings: reading, defaults, bounds, differences, the page. */
#include "settings/settings.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "settings/changes.h"
#include "settings/page.h"
#include "settings/values.h"
#include "unit.h"

enum { ITEMS = 3 };

struct item {
    char name[8];
    uint32_t size;
    unsigned macs;
    uint8_t mac[ITEMS][6];
};

struct whole {
    uint8_t small;
    uint64_t large;
    double share;
    bool flag;
    uint32_t word, hidden;
    char text[8];
    uint32_t ip;
    unsigned items;
    struct item item[ITEMS];
};

static const struct setting_word words[] = {{"two", 2}, {"one", 1}, {NULL, 0}};
static const struct setting mac = {SETTING_MAC};
/* clang-format off */
static const struct setting item_fields[] = {
    {.key = "name", .type = SETTING_NAME, .required = true, SETTING_AT(struct item, name), .most = 7, .meaning = "its name"},
    {.key = "size", SETTING_NUMBER_AT(struct item, size, 1, 64, 8), .power_of_two = true, .when = SETTING_NEW_JOBS,
     .unit = "MB", .meaning = "its size"},
    {.key = "macs", SETTING_LIST_AT(struct item, mac, macs, 1, ITEMS), .item = &mac, .kind = "MACs", .meaning = "its stations"},
    {.key = NULL},
};
static const struct setting group_fields[] = {
    {.key = "share", .type = SETTING_SHARE, SETTING_AT(struct whole, share), .refusal = "is no share", .meaning = "a share"},
    {.key = "flag", .type = SETTING_BOOL, SETTING_AT(struct whole, flag), .fallback = true, .meaning = "a flag"},
    {.key = "word", .type = SETTING_WORD, .when = SETTING_RESTART, SETTING_AT(struct whole, word), .words = words,
     .fallback = 2, .meaning = "a word"},
    {.key = "word", .type = SETTING_MORE, SETTING_AT(struct whole, hidden)},
    {.key = NULL},
};
static const struct setting table[] = {
    {.key = "small", SETTING_NUMBER_AT(struct whole, small, 0, 200, 7), .meaning = "a number"},
    {.key = "large", SETTING_NUMBER_AT(struct whole, large, 0, UINT64_MAX, 0), .refusal = "is not large", .meaning = "another"},
    {.key = "text", .type = SETTING_TEXT, SETTING_AT(struct whole, text), .most = 7, .meaning = "a text"},
    {.key = "ip", SETTING_IP, SETTING_AT(struct whole, ip), .initial = "10.0.0.1", .meaning = "an address"},
    {.key = "group", .type = SETTING_GROUP, .when = SETTING_NEW_JOBS, .fields = group_fields},
    {.key = "items", SETTING_LIST_AT(struct whole, item, items, 1, ITEMS), .named = true, .leaves = SETTING_WHEN_QUIET,
     .fields = item_fields, .title = "items"},
    {.key = NULL},
};
/* clang-format on */

static char said[4096];

static void note(void *context, const char *message)
{
    (void)context;
    strcat(strcat(said, message), "\n");
}

static struct whole read_text(const char *yaml)
{
    struct whole w = {0};
    struct settings s;

    said[0] = '\0';
    CU_ASSERT_EQUAL_FATAL(settings_take(&s, "F", yaml, note, NULL), 0);
    settings_read(&s, table, &w);
    settings_close(&s);
    return w;
}

TEST(what_is_not_said_has_defaults)
{
    const struct whole w = read_text("items: [{name: a}]\n");

    CU_ASSERT_STRING_EQUAL(said, "");
    CU_ASSERT(w.small == 7 && w.large == 0 && w.flag && w.word == 2 && memcmp(&w.ip, "\x0A\0\0\1", 4) == 0);
    CU_ASSERT(w.items == 1 && w.item[0].size == 8 && w.item[0].macs == 0);
}

TEST(what_is_said_arrives)
{
    const struct whole w = read_text(
        "small: 0x20\nlarge: 18446744073709551615\ntext: seven77\nip: 10.0.0.9\ngroup: {share: 0.25, flag: "
        "false, word: one}\nitems: [{name: a, size: 64, macs: [\"2:0:0:0:0:1\", \"2:0:0:0:0:2\"]}, {name: "
        "b}]\n");

    CU_ASSERT_STRING_EQUAL(said, "");
    CU_ASSERT(w.small == 32 && w.large == UINT64_MAX && w.share == 0.25 && !w.flag && w.word == 1);
    CU_ASSERT_STRING_EQUAL(w.text, "seven77");
    CU_ASSERT(memcmp(&w.ip, "\x0A\0\0\x09", 4) == 0);
    CU_ASSERT(w.items == 2 && w.item[0].size == 64 && w.item[0].macs == 2 && w.item[0].mac[1][5] == 2);
}

/* In the order of the file; what is of the wrong kind counts as absent. */
TEST(what_does_not_fit_is_reported)
{
    const struct whole w = read_text("small: 201\nlarge: 18446744073709551616\ngroup: {share: nan, flag: "
                                     "yes, word: three}\ntext: eight888\n"
                                     "itms: []\nsmall: 3\nip: x\nitems: [{size: 3, macs: [x]}, {name: a b, "
                                     "macs: []}, {name: c, macs: 3}]\n");

    CU_ASSERT_STRING_EQUAL(
        said, "F:1: small: 201 is out of range (0..200)\n"
              "F:2: large: 18446744073709551616 is too large\n"
              "F:3: group.share: nan is no share (0..1)\n"
              "F:3: group.flag: \"yes\" is neither true nor false\n"
              "F:3: group.word: \"three\" is none of two, one\n"
              "F:4: text: is longer than 7 characters\n"
              "F:5: itms: unknown key; did you mean \"items\"?\n"
              "F:6: small: is given twice, first in line 1\n"
              "F:7: ip: \"x\" is not an IPv4 address (10.0.0.1 or 10.0.0.1/24)\n"
              "F:8: items[0].name: is missing\n"
              "F:8: items[0].size: 3 is not a power of two (512, 1024, ...)\n"
              "F:8: items[0].macs[0]: \"x\" is not a MAC address (\"02:00:00:00:00:01\")\n"
              "F:8: items[1].name: \"a b\" has spaces or unprintable characters in it\n"
              "F:8: items[1].macs: is empty; give it at least 1 item\n"
              "F:8: items[2].macs: expected a list, [a, b, ...] or lines that begin with \"- \"\n");
    CU_ASSERT(w.flag && w.word == 2 && w.items == 3 && w.item[2].macs == 0);
}

/* What is different between two files, a line each. */
static const char *different(const char *a, const char *b)
{
    const struct whole was = read_text(a), is = read_text(b);
    static struct settings_changes changes;
    static char text[1024];

    settings_compare(&changes, table, &was, &is);
    text[0] = '\0';
    for (unsigned i = 0; i < changes.n; i++) {
        const struct settings_change *c = &changes.change[i];

        snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s %s %s %d\n", c->key, c->from, c->to,
                 c->when);
    }
    return text;
}

TEST(what_is_different_is_found)
{
    CU_ASSERT_STRING_EQUAL(different("items: [{name: a}]", "items: [{name: a}]\nsmall: 7"), "");
    CU_ASSERT_STRING_EQUAL(
        different("group: {share: 0.5}", "small: 9\ntext: x\nip: 10.0.0.2\ngroup: {flag: false, word: one}"),
        "small 7 9 0\ntext - x 0\nip 10.0.0.1 10.0.0.2 0\ngroup.share 0.5 0 1\ngroup.flag true false 1\n"
        "group.word two one 3\n");
    CU_ASSERT_STRING_EQUAL(
        different("items: [{name: a}, {name: b, size: 2}]",
                  "items: [{name: b, macs: [\"2:0:0:0:0:1\"]}, {name: c}]"),
        "items[a] - removed 2\nitems[b].size 2 8 1\nitems[b].macs - changed 0\nitems[c] - added 0\n");
}

TEST(the_page_shows_each_setting)
{
    char *text = NULL;
    size_t bytes;
    FILE *page = open_memstream(&text, &bytes);

    settings_print(page, "All", table, SETTING_AT_ONCE);
    fclose(page);
    CU_ASSERT_STRING_EQUAL(
        text,
        "### All\n\n| key | value | default | a change counts | |\n|---|---|---|---|---|\n"
        "| `small` | 0..200 | 7 | at once | a number |\n| `large` | 0..2^64-1 | 0 | at once | another |\n"
        "| `text` | text, to 7 characters | none | at once | a text |\n"
        "| `ip` | IPv4 address | 10.0.0.1 | at once | an address |\n"
        "| `group.share` | 0..1 | 0 | new jobs | a share |\n"
        "| `group.flag` | `true`, `false` | `true` | new jobs | a flag |\n"
        "| `group.word` | `two`, `one` | `two` | restart | a word |\n\n"
        "### items\n\n| key | value | default | a change counts | |\n|---|---|---|---|---|\n"
        "| `name` | text, to 7 characters without spaces | required | at once | its name |\n"
        "| `size` | 1..64 MB, a power of two | 8 | new jobs | its size |\n"
        "| `macs` | list of MACs, 1 to 3 | none | at once | its stations |\n\n");
    free(text);
}
